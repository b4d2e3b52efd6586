#pragma once

#include "hearsay/backend/cuda/comes_last.cuh"
#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/norm/channel_grid.h"
#include "hearsay/engine/cuda/norm/sum_parts.cuh"

/// Sums over the samples and pixels of each channel and peer, in one launch and in an order that
/// depends on the sizes alone: every block sums a chunk of pixels, and the last to finish a peer's
/// slab of channels adds up what all of them found.
namespace hearsay::engine::cuda {

constexpr unsigned kChannelThreads = 256;

/// finish(peer, channel, sum of p, sum of q) for every peer and channel, p and q being terms of
/// each value. A thread calls terms.begin(peer, first channel, grid) once, for what the terms of
/// its W channels have in common, and then terms.add(that, place, p, q) for every pixel.
///
/// Grid (chunks of pixels, at most 128; slabs of channels; peers), 256 threads: W channels (16
/// bytes) of every rows-th pixel of the chunk per thread, unrolled by 4. Registers: 2 W sums in
/// float. Shared memory: W x 256 float2 (W = 4: 8,192 bytes, 8: 16,384) for the block's tree, and
/// 256 double2 (4,096 bytes) for the last block.
///
/// One launch: a block writes its pairs to partials[peer][chunk][channel], and the last of a (peer,
/// slab), by ticket, adds them up in double. Order: pixels ascending per thread, a tree over rows,
/// chunks as in sum_parts: of the sizes only, whichever block is last. `tickets` are zero before
/// and after. Reads the tensor once: bound by memory bandwidth or, at few peers, latency; not
/// measured since convolutions sum for batch norm.
template <int W, class Terms, class Finish>
__global__ void __launch_bounds__(kChannelThreads)
    channel_sums(ChannelGrid grid, Terms terms, Finish finish, float2* partials,
                 unsigned* tickets) {
  backend::cuda::begin_launch();
  __shared__ float2 shared[W][kChannelThreads];
  __shared__ double2 sums[kChannelThreads];
  const ChannelPart<W> part(grid);
  const unsigned peer = blockIdx.z;
  float p[W] = {}, q[W] = {};
  const auto common = terms.begin(peer, part.first, grid);
#pragma unroll 4
  for (unsigned k = part.begin; k < part.end; k += part.rows) {
    terms.add(common, part.at(grid, k), p, q);
  }

  // Over the block's rows of pixels: a tree that halves them, also where they are no power of two.
#pragma unroll
  for (int k = 0; k < W; ++k) shared[k][threadIdx.x] = make_float2(p[k], q[k]);
  __syncthreads();
  for (unsigned left = part.rows; left > 1;) {
    const unsigned half = (left + 1) / 2;
    if (part.row < left - half) {
#pragma unroll
      for (int k = 0; k < W; ++k) {
        const float2 other = shared[k][threadIdx.x + half * part.lanes];
        shared[k][threadIdx.x].x += other.x;
        shared[k][threadIdx.x].y += other.y;
      }
    }
    __syncthreads();
    left = half;
  }
  float2* own = partials + std::size_t{peer} * grid.chunks * grid.channels;
  if (part.row == 0) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      own[std::size_t{blockIdx.x} * grid.channels + part.first + k] = shared[k][threadIdx.x];
    }
  }
  // The last block of this peer and slab adds up all chunks.
  unsigned* ticket = tickets + std::size_t{peer} * grid.slabs + blockIdx.y;
  if (!backend::cuda::comes_last(ticket, grid.chunks)) return;
  sum_parts<kChannelThreads>(
      own, grid.chunks, grid.channels, part.base, part.width(), sums, PlainPair{},
      [&](unsigned channel, double2 sum) { finish(peer, channel, grid, sum.x, sum.y); });
}

}  // namespace hearsay::engine::cuda
