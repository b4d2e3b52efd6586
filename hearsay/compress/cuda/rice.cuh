#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/block.cuh"
#include "hearsay/compress/cuda/rice.h"

/// The Rice code of index_code.h for the ascending indices of all rows.
namespace hearsay::compress::cuda {

constexpr unsigned kParameters = 32;
constexpr unsigned kPlanPiece = 1024;  // indices per block

/// How many indices the i-th of a row skips.
__device__ inline std::uint32_t gap(const std::uint32_t* row, std::size_t i) {
  return i == 0 ? row[0] : row[i] - row[i - 1] - 1;
}

/// The shortest code of each row: the smallest of the best parameters, where plan_indices ends too,
/// since lengths are convex. The length of a row's message is that and `other_bytes`.
///
/// All 32 lengths are summed in one pass: sum of gap >> r, which is below 2^32, as indices are.
/// Grid (ceil(keep / 1,024), rows), 256 threads, 4 indices per thread; 32 counters per thread in
/// registers, added over a warp by __reduce_add_sync, over the block in 128 bytes of shared memory
/// and over the row in `sums` by atomics: integers, so no order matters. The last block of a row,
/// by ticket, takes the minimum over 32 lanes, ties to the smaller parameter, and writes the length
/// to host memory. `sums`, 32 per row, and `tickets` are zero before and after. Reads 4 bytes per
/// kept entry; bound by latency; not measured by itself.
__global__ void plan_rice(const std::uint32_t* index, std::size_t keep, unsigned* sums,
                          unsigned* tickets, std::size_t other_bytes, RicePlan* plans,
                          std::uint64_t* const* bytes) {
  backend::cuda::begin_launch();
  __shared__ unsigned shared[kParameters];
  const unsigned row = blockIdx.y;
  const std::size_t end = min(keep, (blockIdx.x + std::size_t{1}) * kPlanPiece);
  if (threadIdx.x < kParameters) shared[threadIdx.x] = 0;
  __syncthreads();
  unsigned mine[kParameters] = {};
  for (std::size_t i = blockIdx.x * std::size_t{kPlanPiece} + threadIdx.x; i < end;
       i += blockDim.x) {
    const std::uint32_t skipped = gap(index + row * keep, i);
#pragma unroll
    for (unsigned r = 0; r < kParameters; ++r) mine[r] += skipped >> r;
  }
#pragma unroll
  for (unsigned r = 0; r < kParameters; ++r) {
    const unsigned sum = __reduce_add_sync(kAllLanes, mine[r]);
    if (lane() == r) atomicAdd(shared + r, sum);
  }
  __syncthreads();
  if (threadIdx.x < kParameters) {
    atomicAdd(sums + row * kParameters + threadIdx.x, shared[threadIdx.x]);
  }
  if (!comes_last(tickets + row, gridDim.x) || threadIdx.x >= kParameters) return;
  // One warp: lane r has the length with parameter r; the key (length, r) has a unique minimum.
  const unsigned r = threadIdx.x;
  const std::uint64_t bits =
      keep * std::uint64_t{1 + r} + atomicExch(sums + row * kParameters + r, 0u);
  std::uint64_t best = bits * kParameters + r;
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    best = min(best, __shfl_xor_sync(kAllLanes, best, step));
  }
  if (r > 0) return;
  plans[row] = {best / kParameters, static_cast<std::uint32_t>(best % kParameters)};
  (*bytes)[row] = other_bytes + 1 + (best / kParameters + 7) / 8;
}

}  // namespace hearsay::compress::cuda
