#pragma once

#include <cstdint>

#include "hearsay/core/random.h"
#include "hearsay/engine/cuda/stream_key.h"

namespace hearsay::engine::cuda {

/// Words 4*block .. 4*block+3 of the stream: the same as Random(key.seed, purpose, key.peer,
/// key.round).words(block).
__device__ inline uint4 words(const StreamKey& key, Purpose purpose, std::uint64_t block) {
  const unsigned high = static_cast<unsigned>(block >> 32) & 0xffffu;
  uint4 c = make_uint4(static_cast<unsigned>(block), static_cast<unsigned>(purpose) << 16 | high,
                       key.peer, key.round);
  unsigned k0 = static_cast<unsigned>(key.seed), k1 = static_cast<unsigned>(key.seed >> 32);
#pragma unroll
  for (int i = 0; i < 10; ++i) {
    const unsigned low0 = 0xD2511F53u * c.x, high0 = __umulhi(0xD2511F53u, c.x);
    const unsigned low1 = 0xCD9E8D57u * c.z, high1 = __umulhi(0xCD9E8D57u, c.z);
    c = make_uint4(high1 ^ c.y ^ k0, low1, high0 ^ c.w ^ k1, low0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

__device__ inline unsigned word(const StreamKey& key, Purpose purpose, std::uint64_t index) {
  const uint4 four = words(key, purpose, index / 4);
  switch (index % 4) {
    case 0:
      return four.x;
    case 1:
      return four.y;
    case 2:
      return four.z;
    default:
      return four.w;
  }
}

}  // namespace hearsay::engine::cuda
