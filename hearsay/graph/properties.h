#pragma once

#include "hearsay/graph/weights.h"

namespace hearsay::graph {

/// The yes/no facts of one W, up to 1e-9: weights given in decimals sum to 1 to about that.
bool is_row_stochastic(const Weights& weights);
bool is_column_stochastic(const Weights& weights);
bool is_symmetric(const Weights& weights);

}  // namespace hearsay::graph
