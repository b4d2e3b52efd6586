#pragma once

#include <cstdint>

#include "hearsay/core/random.h"
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

/// Four codes in a word, the first in the lowest byte; of each the lowest byte counts.
__device__ inline std::uint32_t pack4(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                      std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}
__device__ inline int code_of(std::uint32_t word, int k) {
  return static_cast<std::int8_t>(word >> (8 * k));
}

/// max(q, 0) of four codes.
__device__ inline std::uint32_t relu4(std::uint32_t word) { return __vmaxs4(word, 0u); }

/// Q16 of 16 gradients that are neighbours, as pairs.
struct Sixteen {
  /// From shared memory, thread i with the i-th sixteen: lanes begin with different quads of
  /// theirs, so that eight of them read from all banks, and turn them back afterwards.
  __device__ Sixteen(const float4* d, float factor) {
    const unsigned turn = threadIdx.x / 2 % 4;
    uint2 quads[4], turned[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const float4 four = d[(k + turn) % 4];
      quads[k] = make_uint2(
          __byte_perm(nearest_bits(four.x * factor), nearest_bits(four.y * factor), 0x5410),
          __byte_perm(nearest_bits(four.z * factor), nearest_bits(four.w * factor), 0x5410));
    }
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) turned[k] = turn & 1 ? quads[(k + 3) % 4] : quads[k];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) quads[k] = turn & 2 ? turned[(k + 2) % 4] : turned[k];
    pairs[0] = make_uint4(quads[0].x, quads[0].y, quads[1].x, quads[1].y);
    pairs[1] = make_uint4(quads[2].x, quads[2].y, quads[3].x, quads[3].y);
  }
  __device__ explicit Sixteen(const uint4* codes) : pairs{codes[0], codes[1]} {}

  /// SR8 of them.
  template <class Words>
  __device__ uint4 rounded(const Words& random) const {
    const std::uint32_t* pair = &pairs[0].x;
    uint4 codes;
    std::uint32_t* word = &codes.x;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      // (g + r) >> 8 of two entries per word: g + 2^15 + r is in 0 .. 2^16 - 1, so that no carry
      // passes between the halves; the byte above is g's but for its highest bit.
      const std::uint32_t first = (pair[2 * k] ^ 0x80008000u) + __byte_perm(random[k], 0, 0x4140);
      const std::uint32_t second =
          (pair[2 * k + 1] ^ 0x80008000u) + __byte_perm(random[k], 0, 0x4342);
      word[k] = __byte_perm(first, second, 0x7531) ^ 0x80808080u;
    }
    return codes;
  }

  uint4 pairs[2];
};

}  // namespace hearsay::engine::cuda::int8
