#pragma once

#include <cstddef>

#include "hearsay/algorithm/algorithm.h"

namespace hearsay::algorithm {

/// Message size and memory of one peer, in arrays of d floats, from the method's registry row.
struct Footprint {
  std::size_t sent = 0;  ///< in one message
  std::size_t kept = 0;  ///< besides x and the gradient
  bool hats = false;     ///< plus one public copy (x-hat) per in-neighbour
};

Footprint footprint_of(const Entry& entry);

}  // namespace hearsay::algorithm
