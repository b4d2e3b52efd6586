#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv/convolve/conv_multiply.cuh"

namespace hearsay::engine::cuda {

/// y(pixel, o) = sum over chunk, tap, channel of x(pixel stride + tap - pad, channel) w(tap, o,
/// channel), forward, or the input gradient as such a convolution of grad_output: an implicit
/// matrix product, pixels x (taps x channels) x output channels, for any kernel size, stride and
/// dilation. The kernel of cards before sm_90 and of shapes that TMA cannot copy (conv_tma.cuh is
/// the other).
///
/// Grid (tiles of a peer, groups of kOut output channels, peers), Shape::kThreads; a block computes
/// one tile of kPixels x kOut outputs, channels in chunks of kBytes.
///
/// Shared memory, per stage: packed weights, taps kOut kPitch bytes, and the patch, kPitch per
/// position of tile_i patch_h patch_w; kStages of them if there are several chunks, else one; then
/// the epilogue's kShared. Example: 256 pixels x 16 channels, 32 bytes per chunk, 3 x 3, tiles of
/// 16 x 16: 6,912 + 15,552 + 512 = 22,976 bytes forward. Registers: 4 kRows kColumns accumulators.
///
/// Pipeline: threads copy with cp.async, 16 bytes each (or through registers where channels do not
/// fill 16 bytes, !kWhole). With two stages the next chunk is copied while one is multiplied; with
/// one stage copying and multiplying alternate, and other blocks of the multiprocessor fill in.
///
/// Sums: chunks ascending, then as in multiply_chunk. Bound by shared memory where channels are few
/// (docs/decisions.md); this version was not profiled by itself.
template <class Math, class Shape, int kKernel, bool kWhole, bool kBackward>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    convolve(const __grid_constant__ ConvLaunch p) {
  backend::cuda::begin_launch();
  using Entry = typename Math::Entry;
  constexpr int kPitch = Shape::kPitch;
  constexpr int kEntries = Shape::kBytes / static_cast<int>(sizeof(Entry));  // of a chunk
  extern __shared__ __align__(1024) char shared[];  // kernels of one file must agree
  const ConvGeometry& g = p.geometry;
  const int kernel = kKernel > 0 ? kKernel : g.kernel;
  const int peer = blockIdx.z;
  const Source<Entry> x{static_cast<const Entry*>(p.x) + peer * p.x_stride, g.in_h, g.in_w, g.in_c};
  const int weight_bytes = kernel * kernel * Shape::kOut * kPitch;
  const int stage_bytes = weight_bytes + g.patch_positions() * kPitch;
  const auto stage_of = [&](int chunk) {
    return shared + (Shape::kStages > 1 ? chunk % 2 * stage_bytes : 0);
  };
  char* const others = shared + (p.chunks > 1 ? Shape::kStages : 1) * stage_bytes;
  const char* packed = static_cast<const char*>(p.weights) + peer * p.weights_stride +
                       static_cast<long>(blockIdx.y) * p.chunks * weight_bytes;
  const Window window = patch_window(g, tile_origin(g, blockIdx.x));
  // Issues the copies of a chunk, weights (as packed, 16 bytes per thread) and patch, as one group.
  const auto ask = [&](int chunk) {
    char* stage = stage_of(chunk);
    const char* from = packed + static_cast<long>(chunk) * weight_bytes;
    const std::uint32_t to = shared_address(stage);
    for (int at = threadIdx.x * 16; at < weight_bytes; at += Shape::kThreads * 16) {
      copy_16_async(to + at, from + at);
    }
    copy_window<Math, Shape::kThreads, Shape::kBytes, kWhole>(x, window, chunk * kEntries,
                                                              stage + weight_bytes, kPitch);
    commit_copies();
  };
  ask(0);
  Epilogue<Entry, Shape, kBackward> epilogue(p, others);

  int rows[Shape::kRows];
  find_rows<Shape>(g, rows);
  const int half = threadIdx.x % 32 / 16;

  float sum[Shape::kRows][Shape::kColumns][4] = {};
  for (int chunk = 0; chunk < p.chunks; ++chunk) {
    wait_for_copies();
    const char* stage = stage_of(chunk);
    __syncthreads();
    // All threads have left the other stage: with two, the next chunk may overwrite it.
    if (Shape::kStages > 1 && chunk + 1 < p.chunks) ask(chunk + 1);
    if (chunk + 1 == p.chunks) epilogue.begin(blockIdx.x);
    const std::uint32_t patch = shared_address(stage) + weight_bytes + half * 16;
    multiply_chunk<Math, Shape, kKernel>(
        kernel, shared_address(stage) + weight_row<Shape>(),
        [&](int f, int k, int l, int step) {
          return patch + (rows[f] + k * g.patch_w + l) * kPitch + step * 32;
        },
        sum);
    // With one stage, the next chunk waits until all have read this one.
    if (Shape::kStages == 1 && chunk + 1 < p.chunks) {
      __syncthreads();
      ask(chunk + 1);
    }
  }
  epilogue.finish(blockIdx.x, sum);
}

}  // namespace hearsay::engine::cuda
