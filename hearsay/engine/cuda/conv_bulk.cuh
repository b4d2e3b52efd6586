#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/bulk.cuh"
#include "hearsay/engine/cuda/conv_epilogue.cuh"
#include "hearsay/engine/cuda/read_norm.cuh"

namespace hearsay::engine::cuda {

/// Where piece `piece` of 16 bytes of position `row` stands in a patch whose positions have kBytes:
/// the copying hardware permutes pieces so that those of neighbouring rows lie in different banks.
template <int kBytes>
__device__ inline int swizzled(int row, int piece) {
  constexpr int kRowsAlike = 128 / kBytes;
  return row * kBytes + (piece ^ row / kRowsAlike % (kBytes / 16)) * 16;
}

/// Normalises a patch in shared memory, all threads together; positions beside the image stay
/// zeros.
template <class Entry, int kThreads, int kBytes>
__device__ inline void normalize_patch(const ConvGeometry& g, TileOrigin origin, char* patch,
                                       const Normal* normals, bool relu) {
  constexpr int kPieces = kBytes / 16, kEntries = Sixteen<Entry>::kEntries, kAtOnce = 2;
  constexpr int kStep = kThreads / kPieces;
  const int piece = threadIdx.x % kPieces;
  Normal normal[kEntries];
#pragma unroll
  for (int i = 0; i < kEntries; ++i) normal[i] = normals[piece * kEntries + i];
  const int top = origin.y * g.stride - g.pad, left = origin.x * g.stride - g.pad;
  for (int first = threadIdx.x / kPieces; first < g.patch_positions(); first += kStep * kAtOnce) {
    float value[kAtOnce][kEntries];
    char* place[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const int position = first + j * kStep;
      const int line = divide(position, g.patch_width);
      const int x = left + position - line * g.patch_w;
      const int y = top + line - divide(line, g.patch_height) * g.patch_h;
      const bool inside = position < g.patch_positions() && static_cast<unsigned>(x) < g.in_w &&
                          static_cast<unsigned>(y) < g.in_h;
      place[j] = inside ? patch + swizzled<kBytes>(position, piece) : nullptr;
      if (inside) load(reinterpret_cast<const Entry*>(place[j]), value[j]);
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      if (place[j] == nullptr) continue;
#pragma unroll
      for (int i = 0; i < kEntries; ++i) value[j][i] = normalized(value[j][i], normal[i], relu);
      store(value[j], reinterpret_cast<Entry*>(place[j]));
    }
  }
}

/// As `convolve` (conv_patch.cuh), with patches and weights that the hardware brings: block (some
/// tiles, group of kOut channels, peer). While a chunk is multiplied the next ones are on their
/// way, be they of the same tile or the next. For kernels of 3 x 3, and images whose channels are
/// whole chunks.
template <class Math, class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    convolve_bulk(const __grid_constant__ CUtensorMap map, const __grid_constant__ ConvLaunch p) {
  using Entry = typename Math::Entry;
  constexpr int kPitch = Shape::kPitch, kStages = Shape::kStages, kBytes = Shape::kBytes;
  constexpr int kEntries = kBytes / static_cast<int>(sizeof(Entry));  // of a chunk
  extern __shared__ __align__(1024) char shared[];
  const ConvGeometry& g = p.geometry;
  constexpr int kKernel = 3, weight_bytes = kKernel * kKernel * Shape::kOut * kPitch;
  const int patch_bytes = g.patch_positions() * kBytes, patch_room = bulk_room(patch_bytes);
  char* const packed = shared + kStages * patch_room;
  auto* const partial =
      reinterpret_cast<float2*>(packed + (p.resident ? p.chunks : kStages) * weight_bytes);
  auto* const out_normals = reinterpret_cast<Normal*>(partial + Shape::kPartial);
  Normal* const in_normals = out_normals + Shape::kOut;
  auto* const barriers = reinterpret_cast<Barrier*>(in_normals + g.in_c);
  const int per_block = (g.tiles + gridDim.x - 1) / gridDim.x;
  const int first_tile = blockIdx.x * per_block;
  const int rounds = min(per_block, g.tiles - first_tile) * p.chunks;
  if (threadIdx.x == 0) {
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) make_barrier(shared_address(barriers + stage));
  }
  __syncthreads();
  backend::cuda::begin_launch();
  if (rounds <= 0) return;

  const char* weights_from = static_cast<const char*>(p.weights) + blockIdx.z * p.weights_stride +
                             static_cast<long>(blockIdx.y) * p.chunks * weight_bytes;
  const auto ask = [&](int round) {  // for one chunk of a tile; one thread does
    const int chunk = round % p.chunks, stage = round % kStages;
    const std::uint32_t barrier = shared_address(barriers + stage);
    const bool weights = !p.resident || round < p.chunks;
    expect_bytes(barrier, patch_bytes + (weights ? weight_bytes : 0));
    const TileOrigin origin = tile_origin(g, first_tile + round / p.chunks);
    copy_box(shared_address(shared) + stage * patch_room, &map,
             blockIdx.z * g.images + origin.image, origin.y * g.stride - g.pad,
             origin.x * g.stride - g.pad, chunk * kEntries, barrier);
    if (weights) {
      copy_bulk(shared_address(packed) + (p.resident ? chunk : stage) * weight_bytes,
                weights_from + static_cast<long>(chunk) * weight_bytes, weight_bytes, barrier);
    }
  };
  if (threadIdx.x == 0) {
    for (int round = 0; round < min(kStages - 1, rounds); ++round) ask(round);
  }
  Epilogue<Entry, Shape> epilogue(p, partial, out_normals);
  if (p.read.normals != nullptr) {
    find_normals<Shape::kThreads>(p.read, blockIdx.z, static_cast<unsigned>(g.in_c),
                                  blockIdx.x == 0 && blockIdx.y == 0,
                                  reinterpret_cast<double2*>(partial), in_normals);
  }

  // The rows of A that this lane addresses: pixel (lane mod 16) of each fragment, one half of 32
  // bytes; of B: channel lane mod 8 of two fragments.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int a_row[Shape::kRows];
#pragma unroll
  for (int f = 0; f < Shape::kRows; ++f) {
    const PixelPlace place =
        pixel_place(g, (warp % Shape::kWarpsM * Shape::kRows + f) * 16 + lane % 16);
    a_row[f] = (place.image * g.patch_h + place.y * g.stride) * g.patch_w + place.x * g.stride;
  }
  const int b_offset =
      (warp / Shape::kWarpsM * Shape::kColumns * 8 + lane % 8 + lane / 16 * 8) * kPitch +
      lane / 8 % 2 * 16;

  float sum[Shape::kRows][Shape::kColumns][4] = {};
  int chunk = 0, tile = first_tile, stage = 0;
  std::uint32_t phase = 0;
  for (int round = 0; round < rounds; ++round) {
    wait_at(shared_address(barriers + stage), phase);
    if (p.read.normals != nullptr) {
      normalize_patch<Entry, Shape::kThreads, kBytes>(
          g, tile_origin(g, tile), shared + stage * patch_room, in_normals + chunk * kEntries,
          p.read.relu != 0);
      before_bulk_copies();
    }
    __syncthreads();  // nobody reads the stage before this one any more
    if (threadIdx.x == 0 && round + kStages - 1 < rounds) ask(round + kStages - 1);
    const bool last = chunk + 1 == p.chunks;
    if (last) epilogue.begin(tile);

    const std::uint32_t weights =
        shared_address(packed) + (p.resident ? chunk : stage) * weight_bytes + b_offset;
    const std::uint32_t patch = shared_address(shared) + stage * patch_room;
#pragma unroll
    for (int k = 0; k < kKernel; ++k) {
#pragma unroll
      for (int l = 0; l < kKernel; ++l) {
        std::uint32_t rows[Shape::kRows];
#pragma unroll
        for (int f = 0; f < Shape::kRows; ++f) {
          rows[f] = patch + swizzled<kBytes>(a_row[f] + k * g.patch_w + l, lane / 16);
        }
#pragma unroll
        for (int step = 0; step < kBytes / 32; ++step) {
          std::uint32_t a[Shape::kRows][4];
#pragma unroll
          for (int f = 0; f < Shape::kRows; ++f) load_matrices(a[f], rows[f] ^ (step * 32));
#pragma unroll
          for (int pair = 0; pair < Shape::kColumns / 2; ++pair) {
            std::uint32_t b[4];
            load_matrices(
                b, weights + ((k * kKernel + l) * Shape::kOut + pair * 16) * kPitch + step * 32);
#pragma unroll
            for (int f = 0; f < Shape::kRows; ++f) {
              Math::multiply(sum[f][2 * pair], a[f], b[0], b[1]);
              Math::multiply(sum[f][2 * pair + 1], a[f], b[2], b[3]);
            }
          }
        }
      }
    }
    if (last) {
      epilogue.finish(tile, sum);
#pragma unroll
      for (int f = 0; f < Shape::kRows; ++f) {
#pragma unroll
        for (int n = 0; n < Shape::kColumns; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) sum[f][n][i] = 0;
        }
      }
      ++tile;
    }
    chunk = last ? 0 : chunk + 1;
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
}

}  // namespace hearsay::engine::cuda
