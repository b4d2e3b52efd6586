#include <array>

#include <fmt/format.h>

#include "hearsay/graph/spectrum/periodic.h"
#include "hearsay/graph/topology/topologies.h"

namespace hearsay::graph {

namespace {

using Tour = std::array<std::uint32_t, 4>;

/// The tours of Fig. 5 (a), (b) and (c) of the Sparse-Push paper; each peer sends to the next.
constexpr std::array<Tour, 3> kTours = {{{0, 1, 2, 3}, {0, 3, 2, 1}, {0, 2, 1, 3}}};

/// The weight that each peer sends, on every tour. It keeps the rest, so W is not row-stochastic
/// and push-sum weights tend to (0.8, 1.2, 0.8, 1.2).
constexpr std::array<double, 4> kSent = {1.0 / 2, 1.0 / 3, 1.0 / 2, 1.0 / 3};

}  // namespace

std::unique_ptr<Schedule> make_sparse_push(const Arguments& arguments,
                                           const GraphContext& context) {
  const Tour& tour = kTours[arguments.choice("graph")];
  check_peers(fmt::format("{}:{}", arguments.name(), arguments.text("graph")), tour.size(),
              context);
  std::vector<Edge> edges;
  for (std::size_t k = 0; k < tour.size(); ++k) {
    const std::uint32_t sender = tour[k];
    edges.push_back({sender, tour[(k + 1) % tour.size()], kSent[sender]});
  }
  return make_static(Weights(tour.size(), std::move(edges)));
}

}  // namespace hearsay::graph
