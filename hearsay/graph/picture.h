#pragma once

#include <string>

#include "hearsay/graph/weights.h"

namespace hearsay::graph {

/// W as text, one row a receiver and one column a sender, each line ended by '\n'. Up to 16 peers
/// the entries with two decimals ('.' for none); above that a sketch of at most 64 x 32 characters,
/// each for a block of W, the darker " .:-=+*#%@" the more of its entries are not zero.
std::string picture(const Weights& weights);

}  // namespace hearsay::graph
