#pragma once

#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/tensor.h"

/// Sums over the samples and pixels of each channel and peer, in one launch and in an order that
/// depends on the sizes alone: every block sums a chunk of pixels, and the last to finish a peer's
/// slab of channels adds up what all of them found.
namespace hearsay::engine::cuda {

constexpr unsigned kChannelThreads = 256;

/// Who does what: block (chunk, slab, peer) has `chunk` pixels of kChannelThreads accesses.
struct ChannelGrid {
  ChannelGrid(const Tensor& tensor, int width)
      : channels(static_cast<unsigned>(tensor.shape.channels)),
        pixels(static_cast<unsigned>(tensor.batch * tensor.shape.pixels())),
        peers(static_cast<unsigned>(tensor.peers)) {
    // The chunks of a peer do not depend on how many others there are, so that its sums do not.
    constexpr unsigned kMostChunks = 128;
    constexpr unsigned kPixelsAThread = 4;  // fewer, and a block adds more than it reads
    const unsigned accesses = channels / static_cast<unsigned>(width);
    const unsigned rows = std::max(kChannelThreads / accesses, 1u);
    slabs = blocks_for(accesses, kChannelThreads);
    chunks = std::min(blocks_for(pixels, rows * kPixelsAThread), kMostChunks);
    chunk = blocks_for(pixels, chunks);
  }

  dim3 blocks() const { return {chunks, slabs, peers}; }
  std::size_t partials() const { return std::size_t{peers} * chunks * channels; }
  std::size_t tickets() const { return std::size_t{peers} * slabs; }

  unsigned channels, pixels, peers;  ///< pixels: of one peer's samples
  unsigned slabs = 1, chunks = 1, chunk = 0;
};

/// The part of a thread: channels first .. first + W - 1 of every `rows`-th pixel of the chunk.
template <int W>
struct ChannelPart {
  __device__ explicit ChannelPart(const ChannelGrid& grid)
      : lanes(min(grid.channels / W - blockIdx.y * kChannelThreads, kChannelThreads)),
        rows(kChannelThreads / lanes),
        row(threadIdx.x / lanes),
        lane(threadIdx.x % lanes),
        first((blockIdx.y * kChannelThreads + lane) * W),
        begin(blockIdx.x * grid.chunk + row),
        end(row < rows ? min((blockIdx.x + 1) * grid.chunk, grid.pixels) : 0) {}

  unsigned lanes, rows, row, lane, first, begin, end;

  /// Where the first channel of pixel p lies.
  __device__ std::size_t at(const ChannelGrid& grid, unsigned p) const {
    return (std::size_t{blockIdx.z} * grid.pixels + p) * grid.channels + first;
  }
};

/// Adds up the partial sums of one slab, [chunk][channel] from `partials` on for this peer, and
/// calls finish(channel, sum of .x, sum of .y) for channels first .. first + count - 1. For all
/// threads of a block; the sums may come from another kernel, in any chunks.
template <class Finish>
__device__ void finish_sums(const float2* partials, unsigned chunks, unsigned channels,
                            unsigned first, unsigned count, const Finish& finish) {
  __shared__ double2 shared[kChannelThreads];
  const unsigned lanes = min(count, kChannelThreads), rows = kChannelThreads / lanes;
  const unsigned lane = threadIdx.x % lanes, row = threadIdx.x / lanes;
  for (unsigned base = 0; base < count; base += lanes) {
    const unsigned channel = first + base + lane;
    const bool there = base + lane < count;
    double2 sum = make_double2(0, 0);
    if (there && row < rows) {
#pragma unroll 8
      for (unsigned k = row; k < chunks; k += rows) {
        const float2 part = __ldcg(partials + std::size_t{k} * channels + channel);
        sum.x += static_cast<double>(part.x);
        sum.y += static_cast<double>(part.y);
      }
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned left = rows; left > 1;) {
      const unsigned half = (left + 1) / 2;
      if (row < left - half) {
        const double2 other = shared[threadIdx.x + half * lanes];
        shared[threadIdx.x].x += other.x;
        shared[threadIdx.x].y += other.y;
      }
      __syncthreads();
      left = half;
    }
    if (there && row == 0) finish(channel, shared[threadIdx.x].x, shared[threadIdx.x].y);
    __syncthreads();
  }
}

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
  __shared__ bool last;
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
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned* ticket = tickets + std::size_t{peer} * grid.slabs + blockIdx.y;
    last = atomicAdd(ticket, 1u) == grid.chunks - 1;
    if (last) *ticket = 0;  // for the next launch
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  finish_sums(own, grid.chunks, grid.channels, blockIdx.y * kChannelThreads * W, part.lanes * W,
              [&](unsigned channel, double sum, double product) {
                finish(peer, channel, grid, sum, product);
              });
}

}  // namespace hearsay::engine::cuda
