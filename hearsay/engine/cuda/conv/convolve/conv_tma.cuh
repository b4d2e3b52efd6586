#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv/convolve/conv_multiply.cuh"
#include "hearsay/engine/cuda/conv/tma.cuh"

namespace hearsay::engine::cuda {

/// y(pixel, o) = sum over chunk, tap, channel of patch(pixel + tap, channel) w(tap, o, channel), as
/// `convolve` (conv_patch.cuh), with patches and weights brought by TMA. For kernels of 3 x 3,
/// dilation 1 or quarters, and inputs whose channels are whole chunks of kBytes.
///
/// Grid (blocks that share a peer's tiles, groups of kOut output channels, peers), Shape::kThreads.
/// A block computes ceil(tiles / gridDim.x) consecutive tiles of kPixels x kOut outputs; gridDim.x
/// is chosen for about as many blocks as the device holds at once (ConvDirection::launch).
///
/// Shared memory: kStages patches, kBytes per position, swizzled, each rounded up to 1024 bytes;
/// packed weights, 9 kOut kPitch bytes per chunk, for all chunks if p.resident (then loaded once
/// per block), else for kStages; the epilogue's kShared; kStages mbarriers of 8 bytes. Example: 128
/// pixels x 16 channels, one resident chunk of 64 bytes, tiles of 8 x 16: 2 x 12,288 + 11,520 + 512
/// + 16 = 36,624 bytes forward. Registers: 4 kRows kColumns accumulators per thread, and the
/// fragments.
///
/// Pipeline: one round per (tile, chunk), kStages - 1 rounds ahead, across tiles. All threads wait
/// at the stage's mbarrier, then at __syncthreads, after which no warp reads the stage of the round
/// before: thread 0 refills that one while the warps multiply.
///
/// Sums: chunks ascending, within a chunk as multiply_chunk, _strip or _quarters order them, so
/// they depend on shape and sizes only. Bound by shared memory reads (busy 70 to 76 % of the time
/// with 16 channels and 16 peers, before strips), by memory bandwidth in input gradients of 16
/// channels (3.1 to 3.3 TB/s), by launch latency at 4 peers (docs/performance.md).
template <class Math, class Shape, bool kBackward>
__device__ inline void convolve_tiles(const CUtensorMap& map, const ConvLaunch& p) {
  using Entry = typename Math::Entry;
  constexpr int kPitch = Shape::kPitch, kStages = Shape::kStages, kBytes = Shape::kBytes;
  constexpr int kEntries = kBytes / static_cast<int>(sizeof(Entry));  // of a chunk
  extern __shared__ __align__(1024) char shared[];
  const ConvGeometry& g = p.geometry;
  constexpr int kKernel = 3, weight_bytes = kKernel * kKernel * Shape::kOut * kPitch;
  const int patch_bytes = g.patch_positions() * kBytes;
  const int padded_patch_bytes = tma_padded(patch_bytes);
  char* const packed = shared + kStages * padded_patch_bytes;
  char* const others = packed + (p.resident ? p.chunks : kStages) * weight_bytes;
  auto* const barriers =
      reinterpret_cast<Barrier*>(others + Epilogue<Entry, Shape, kBackward>::kShared);
  // The block's tiles are consecutive; a round is one chunk of one of them.
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
  const auto ask = [&](int round) {  // thread 0: TMA copies of one chunk of a tile
    const int chunk = round % p.chunks, stage = round % kStages;
    const std::uint32_t barrier = shared_address(barriers + stage);
    const bool weights = !p.resident || round < p.chunks;
    expect_bytes(barrier, patch_bytes + (weights ? weight_bytes : 0));
    const TileOrigin origin = tile_origin(g, first_tile + round / p.chunks);
    const int pad = Shape::kQuarters ? 0 : g.pad;
    copy_box(shared_address(shared) + stage * padded_patch_bytes, &map,
             blockIdx.z * g.images + origin.image, Shape::patch_line(g, origin.y) - pad,
             Shape::patch_line(g, origin.x) - pad, chunk * kEntries, barrier);
    if (weights) {
      copy_tma(shared_address(packed) + (p.resident ? chunk : stage) * weight_bytes,
               weights_from + static_cast<long>(chunk) * weight_bytes, weight_bytes, barrier);
    }
  };
  // Prologue: all stages but one are on their way before the first product.
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
    __syncthreads();  // no warp reads the stage of the round before any more
    if (threadIdx.x == 0 && round + kStages - 1 < rounds) ask(round + kStages - 1);
    const bool last = chunk + 1 == p.chunks;
    if (last) epilogue.begin(tile);

    // Addresses of this round's weights and patch; steps of 32 bytes are xors, as the swizzle is.
    const std::uint32_t weights =
        shared_address(packed) + (p.resident ? chunk : stage) * weight_bytes + weight_row<Shape>();
    const std::uint32_t patch = shared_address(shared) + stage * padded_patch_bytes;
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
    // The stages go round; each time all were used the parity of their barriers changes.
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
}

/// The kernel around convolve_tiles, which says grid, shared memory and bounds. The tensor map is a
/// __grid_constant__ parameter, since TMA reads it at its address. Launch bounds: kBlocks blocks
/// per multiprocessor must fit into its registers. Code for sm_90 on only; others never launch it.
template <class Math, class Shape, bool kBackward>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    convolve_tma(const __grid_constant__ CUtensorMap map, const __grid_constant__ ConvLaunch p) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (convolve_tiles<Math, Shape, kBackward>(map, p);))
}

}  // namespace hearsay::engine::cuda
