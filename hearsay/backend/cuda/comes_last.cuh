#pragma once

namespace hearsay::backend::cuda {

/// Whether this block is the last of `blocks` that come here with the same ticket, which is zero
/// before and after: so the one that adds up what all of them have written to device memory before
/// (read it past the L1 cache). All threads must call it.
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
