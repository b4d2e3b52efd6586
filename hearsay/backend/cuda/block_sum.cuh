#pragma once

#include <cuda_runtime.h>

namespace hearsay::backend::cuda {

/// The sum of `value` over the block's threads, valid in thread 0: a shuffle tree over 16, 8, 4, 2,
/// 1 within each warp, then the same tree over the warps' sums in shared memory (32 doubles, 256
/// bytes). The order depends on the number of threads alone. All threads must call it; blockDim.x
/// is a multiple of 32.
__device__ inline double block_sum(double value) {
  __shared__ double warps[32];
  for (unsigned step = 16; step > 0; step /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, step);
  }
  __syncthreads();  // the result of an earlier call may still be read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
  for (unsigned step = 16; step > 0; step /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, step);
  }
  return value;
}

}  // namespace hearsay::backend::cuda
