#pragma once

#include <cstdint>

#include "hearsay/core/random.h"

namespace hearsay::engine {

/// Names the random streams of one peer in one round; each purpose has its own: see core/random.h.
struct StreamKey {
  std::uint64_t seed = 0;
  std::uint32_t peer = 0;
  std::uint32_t round = 0;

  constexpr Random stream(Purpose purpose) const { return {seed, purpose, peer, round}; }
};

}  // namespace hearsay::engine
