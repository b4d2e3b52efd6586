#pragma once

#include <cstddef>

#include "hearsay/algorithm/algorithm.h"

namespace hearsay::algorithm {

/// What a method asks of one peer, in arrays of d floats, as its row of the registry tells.
struct Footprint {
  std::size_t sent = 0;  ///< in one message
  std::size_t kept = 0;  ///< besides x and the gradient
  bool hats = false;     ///< and one more for every peer that it hears from
};

Footprint footprint_of(const Entry& entry);

}  // namespace hearsay::algorithm
