#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "hearsay/graph/weights.h"

namespace hearsay::graph {

/// Two peers such that nothing `from` sends ever reaches `to`.
struct Gap {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// A gap in the union of the graphs, or nothing if they are jointly strongly connected: then in
/// enough periods every peer reaches every other.
std::optional<Gap> find_gap(std::span<const Weights> period);

}  // namespace hearsay::graph
