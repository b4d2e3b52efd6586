#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv/bulk.cuh"
#include "hearsay/engine/cuda/conv/conv_multiply.cuh"

namespace hearsay::engine::cuda {

/// As `convolve` (conv_patch.cuh), with patches and weights that the hardware brings: block (some
/// tiles, group of kOut channels, peer). While a chunk is multiplied the next ones are on their
/// way, be they of the same tile or the next. For kernels of 3 x 3, dilation 1 or quarters, and
/// images whose channels are whole chunks.
template <class Math, class Shape, bool kBackward>
__device__ inline void convolve_tiles(const CUtensorMap& map, const ConvLaunch& p) {
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
    const int pad = Shape::kQuarters ? 0 : g.pad;
    copy_box(shared_address(shared) + stage * patch_room, &map,
             blockIdx.z * g.images + origin.image, Shape::patch_line(g, origin.y) - pad,
             Shape::patch_line(g, origin.x) - pad, chunk * kEntries, barrier);
    if (weights) {
      copy_bulk(shared_address(packed) + (p.resident ? chunk : stage) * weight_bytes,
                weights_from + static_cast<long>(chunk) * weight_bytes, weight_bytes, barrier);
    }
  };
  if (threadIdx.x == 0) {
    for (int round = 0; round < min(kStages - 1, rounds); ++round) ask(round);
  }
  Epilogue<Entry, Shape, kBackward> epilogue(p, others);

  int rows[Shape::kRows];
  find_rows<Shape>(g, rows);
  const int half = threadIdx.x % 32 / 16;

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
        shared_address(packed) + (p.resident ? chunk : stage) * weight_bytes + weight_row<Shape>();
    const std::uint32_t patch = shared_address(shared) + stage * patch_room;
    const auto at = [&](int row, int line, int column, int step) {
      return (patch + swizzled<kBytes>(row + line * g.patch_w + column, half)) ^ (step * 32);
    };
    if constexpr (Shape::kStrips) {
      multiply_strip<Math, Shape>(
          weights, [&](int j, int l, int step) { return at(rows[0], 2 * j, l, step); }, sum);
    } else if constexpr (Shape::kQuarters) {
      multiply_quarters<Math, Shape>(
          weights, [&](int i, int j, int step) { return at(rows[0], i, j, step); }, sum);
    } else {
      multiply_chunk<Math, Shape, kKernel>(
          kKernel, weights, [&](int f, int k, int l, int step) { return at(rows[f], k, l, step); },
          sum);
    }
    if (last) epilogue.finish(tile++, sum);
    chunk = last ? 0 : chunk + 1;
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
}

/// Only sm_90 and later have code for it, since others never launch it.
template <class Math, class Shape, bool kBackward>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    convolve_bulk(const __grid_constant__ CUtensorMap map, const __grid_constant__ ConvLaunch p) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (convolve_tiles<Math, Shape, kBackward>(map, p);))
}

}  // namespace hearsay::engine::cuda
