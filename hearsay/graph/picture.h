#pragma once

#include <string>

#include "hearsay/graph/weights.h"

namespace hearsay::graph {

/// W as text, one row per receiver and one column per sender, each line ended by '\n'. Up to 16
/// peers: the entries with two decimals ('.' for none). Above: a density plot of at most 64 x 32
/// characters, one per block of W, from ' ' to '@' (" .:-=+*#%@") by its fraction of non-zeros.
std::string picture(const Weights& weights);

}  // namespace hearsay::graph
