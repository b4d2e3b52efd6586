#pragma once

#include "hearsay/model/network.h"

namespace hearsay::engine {

/// Throws InvalidArgument if 8 bits cannot train this network, on any device: the sentence names
/// the operation and what would do instead.
void check_int8(const model::Network& network);

}  // namespace hearsay::engine
