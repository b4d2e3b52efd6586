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

/// For every peer and channel the sums over its values of a pair of terms, to `finish`. A thread
/// calls terms.begin(peer, first channel, grid) once, for what the terms of its W channels have in
/// common, and then terms.add(that, place, p, q) for every pixel, which adds the pairs to p and q.
/// `tickets` are zero before and after.
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
  unsigned* ticket = tickets + std::size_t{peer} * grid.slabs + blockIdx.y;
  if (!backend::cuda::comes_last(ticket, grid.chunks)) return;
  sum_parts<kChannelThreads>(
      own, grid.chunks, grid.channels, part.base, part.width(), sums, PlainPair{},
      [&](unsigned channel, double2 sum) { finish(peer, channel, grid, sum.x, sum.y); });
}

}  // namespace hearsay::engine::cuda
