#include <fmt/format.h>

#include "hearsay/graph/mixing.h"
#include "hearsay/graph/spectrum/periodic.h"
#include "hearsay/graph/topology/topologies.h"

namespace hearsay::graph {

std::unique_ptr<Schedule> make_ring(const Arguments& arguments, const GraphContext& context) {
  const std::size_t n = any_peers(context);
  const bool directed = arguments.choice("kind") == 1;
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < n; ++i) {
    link(edges, i, (i + 1) % n);
    if (directed) edges.pop_back();
  }
  return make_static(mix(n, std::move(edges), Rule::kUniform));
}

std::unique_ptr<Schedule> make_star(const Arguments& arguments, const GraphContext& context) {
  const std::size_t n = any_peers(context);
  std::vector<Edge> edges;
  for (std::size_t i = 1; i < n; ++i) link(edges, 0, i);
  return make_static(mix(n, std::move(edges), weight_rule(arguments, true)));
}

std::unique_ptr<Schedule> make_complete(const Arguments& arguments, const GraphContext& context) {
  const std::size_t n = any_peers(context);
  check_edges(arguments.name(), static_cast<double>(n) * static_cast<double>(n - 1));
  std::vector<Edge> edges;
  edges.reserve(n * (n - 1));
  for (std::uint32_t sender = 0; sender < n; ++sender) {
    for (std::uint32_t receiver = 0; receiver < n; ++receiver) {
      if (sender == receiver) continue;
      edges.push_back({sender, receiver, 1.0 / static_cast<double>(n)});
    }
  }
  return make_static(Weights(n, std::move(edges)));
}

}  // namespace hearsay::graph
