#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/bulk.cuh"
#include "hearsay/engine/cuda/conv_epilogue.cuh"

namespace hearsay::engine::cuda {

/// As `convolve` (conv_patch.cuh), with patches and weights that the hardware brings: block (some
/// tiles, group of kOut channels, peer). While a chunk is multiplied the next ones are on their
/// way, be they of the same tile or the next. For kernels of 3 x 3, and images whose channels are
/// whole chunks.
template <class Math, class Shape, bool kBackward>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    convolve_bulk(const __grid_constant__ CUtensorMap map, const __grid_constant__ ConvLaunch p) {
  using Entry = typename Math::Entry;
  constexpr int kPitch = Shape::kPitch, kStages = Shape::kStages, kBytes = Shape::kBytes;
  constexpr int kEntries = kBytes / static_cast<int>(sizeof(Entry));  // of a chunk
  extern __shared__ __align__(1024) char shared[];
  const ConvGeometry& g = p.geometry;
  constexpr int kKernel = 3, weight_bytes = kKernel * kKernel * Shape::kOut * kPitch;
  const int patch_bytes = g.patch_positions() * kBytes, patch_room = bulk_room(patch_bytes);
  char* const packed = shared + kStages * patch_room;
  char* const others = packed + (p.resident ? p.chunks : kStages) * weight_bytes;
  auto* const barriers =
      reinterpret_cast<Barrier*>(others + Epilogue<Entry, Shape, kBackward>::kShared);
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
  Epilogue<Entry, Shape, kBackward> epilogue(p, others);

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
    if (last) epilogue.finish(tile++, sum);
    chunk = last ? 0 : chunk + 1;
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
}

}  // namespace hearsay::engine::cuda
