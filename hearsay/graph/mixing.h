#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "hearsay/core/spec.h"
#include "hearsay/graph/weights.h"

namespace hearsay::graph {

/// How the weights of an unweighted graph are chosen. deg is the out-degree.
enum class Rule {
  kUniform,  ///< W[i][j] = 1 / (1 + deg_j): a sender splits evenly; column-stochastic on any graph
  kMetropolis,  ///< W[i][j] = 1 / (1 + max(deg_i, deg_j)): symmetric and doubly stochastic;
                ///< undirected only
};

inline constexpr Parameter kWeightsParameter = {"weights", "auto", "auto|uniform|metropolis",
                                                "uniform 1/(out-degree+1), Metropolis-Hastings, or "
                                                "auto: metropolis if undirected, else uniform"};

/// The rule that kWeightsParameter names. Throws InvalidArgument for metropolis on a directed
/// graph.
Rule weight_rule(const Arguments& arguments, bool undirected);

/// W of the unweighted graph `edges` (their weights are ignored). Self-loops and duplicate edges,
/// which come from wrapping around small graphs, are dropped.
Weights mix(std::size_t peers, std::vector<Edge> edges, Rule rule);

/// Adds both directions of a link.
void link(std::vector<Edge>& edges, std::size_t a, std::size_t b);

}  // namespace hearsay::graph
