#include <bit>

#include "hearsay/graph/mixing.h"
#include "hearsay/graph/spectrum/periodic.h"
#include "hearsay/graph/topology/topologies.h"

namespace hearsay::graph {

namespace {

/// tau = ceil(log2 n): the hops are 2^0 ... 2^(tau-1), all below n.
std::size_t hops(std::size_t n) { return static_cast<std::size_t>(std::bit_width(n - 1)); }

void add_hop(std::vector<Edge>& edges, std::size_t n, std::size_t hop) {
  for (std::size_t i = 0; i < n; ++i) {
    edges.push_back({.sender = static_cast<std::uint32_t>(i),
                     .receiver = static_cast<std::uint32_t>((i + (std::size_t{1} << hop)) % n)});
  }
}

}  // namespace

std::unique_ptr<Schedule> make_exponential(const Arguments&, const GraphContext& context) {
  const std::size_t n = any_peers(context);
  std::vector<Edge> edges;
  for (std::size_t hop = 0; hop < hops(n); ++hop) add_hop(edges, n, hop);
  return make_static(mix(n, std::move(edges), Rule::kUniform));
}

std::unique_ptr<Schedule> make_one_peer_exponential(const Arguments&, const GraphContext& context) {
  const std::size_t n = any_peers(context);
  if (n == 1) return make_static(Weights(1, {}));
  std::vector<Weights> rounds;
  for (std::size_t hop = 0; hop < hops(n); ++hop) {
    std::vector<Edge> edges;
    add_hop(edges, n, hop);
    rounds.push_back(mix(n, std::move(edges), Rule::kUniform));
  }
  return make_periodic(std::move(rounds));
}

}  // namespace hearsay::graph
