#pragma once

#include "hearsay/graph/weights.h"

namespace hearsay::graph {

/// Properties of one W, with a tolerance of 1e-9: about the accuracy of weights given in decimals.
bool is_row_stochastic(const Weights& weights);
bool is_column_stochastic(const Weights& weights);
bool is_symmetric(const Weights& weights);

/// Whether the weights into every peer are those out of it, in the same order and to the bit.
bool is_balanced(const Weights& weights);

}  // namespace hearsay::graph
