#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "hearsay/graph/weights.h"

namespace hearsay::graph {

/// Two peers without a path from `from` to `to`.
struct Gap {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// A gap in the union of the graphs, or nothing if they are jointly strongly connected: then every
/// peer reaches every other within enough periods.
std::optional<Gap> find_gap(std::span<const Weights> period);

}  // namespace hearsay::graph
