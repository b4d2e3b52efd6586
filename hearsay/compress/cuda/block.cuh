#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "hearsay/backend/cuda/comes_last.cuh"

/// Sums over the threads of one block. All threads must call; blockDim.x is a multiple of 32.
namespace hearsay::compress::cuda {

using backend::cuda::comes_last;

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr unsigned kMostWarps = 32;

__device__ inline unsigned lane() { return threadIdx.x % kWarp; }
__device__ inline unsigned warp() { return threadIdx.x / kWarp; }

/// The prefix sum of `value` over this thread and those before it, for unsigned or 64-bit integers;
/// `total` becomes the sum over the block. Shuffles within warps (5 steps), then every thread adds
/// up the warps' sums from shared memory (32 x sizeof(T) bytes). Two barriers.
template <class T>
__device__ T inclusive_sum(T value, T& total) {
  __shared__ T warps[kMostWarps];
#pragma unroll
  for (unsigned step = 1; step < kWarp; step *= 2) {
    const T other = __shfl_up_sync(kAllLanes, value, step);
    if (lane() >= step) value += other;
  }
  __syncthreads();  // an earlier call may still be read
  if (lane() == kWarp - 1) warps[warp()] = value;
  __syncthreads();
  T before = 0, all = 0;
  for (unsigned w = 0; w < blockDim.x / kWarp; ++w) {
    if (w < warp()) before += warps[w];
    all += warps[w];
  }
  total = all;
  return before + value;
}

/// The sum of `value` over the block, in every thread.
template <class T>
__device__ T block_total(T value) {
  T total;
  inclusive_sum(value, total);
  return total;
}

}  // namespace hearsay::compress::cuda
