#pragma once

namespace hearsay::backend::cuda {

/// Whether this block is the last of `blocks` that come here with the same ticket, which is zero
/// before and after: it then adds up what all of them have written to device memory before (read
/// past L1, with __ldcg). Which block is last varies; the order of the sum must not depend on it.
/// All threads must call it. One atomicAdd per block, fences before and after; saves a second
/// launch.
__device__ inline bool comes_last(unsigned* ticket, unsigned blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(ticket, 1u) + 1 == blocks;
    if (last) *ticket = 0;
  }
  __syncthreads();
  __threadfence();
  return last;
}

}  // namespace hearsay::backend::cuda
