#pragma once

#include <cstdint>

#include "hearsay/engine/quantize.h"

/// What the threads of a block do together.
namespace hearsay::engine::cuda::int8 {

inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kThreads = 512;  ///< of every block that computes a sample
inline constexpr unsigned kWarps = kThreads / kWarp;

/// The maximum over the block, in all threads; of magnitude_bits it is that of the largest value,
/// or NaN's. Two barriers: `shared` may be used again after the next one.
__device__ inline std::uint32_t max_of_block(std::uint32_t value, std::uint32_t (&shared)[kWarps]) {
  value = __reduce_max_sync(~0u, value);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = value;
  __syncthreads();
  return __reduce_max_sync(~0u, shared[threadIdx.x % kWarps]);
}

/// Four codes in a word, the first in the lowest byte.
__device__ inline std::uint32_t pack4(int a, int b, int c, int d) {
  return __byte_perm(__byte_perm(static_cast<unsigned>(a), static_cast<unsigned>(b), 0x0040),
                     __byte_perm(static_cast<unsigned>(c), static_cast<unsigned>(d), 0x0040),
                     0x5410);
}
__device__ inline int code_of(std::uint32_t word, int k) {
  return static_cast<std::int8_t>(word >> (8 * k));
}

/// max(q, 0) of four codes.
__device__ inline std::uint32_t relu4(std::uint32_t word) { return __vmaxs4(word, 0u); }

}  // namespace hearsay::engine::cuda::int8
