// Five peers on a one-way ring, each with one number, find the mean of all five.
//
// There is no central server: in each round a peer receives only from the peer before it. The
// method is push-sum, `sgp` in the registry, which also works on directed graphs.

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "hearsay/algorithm/local_peers.h"

namespace algorithm = hearsay::algorithm;
namespace graph = hearsay::graph;

int main() {
  constexpr std::array kNumbers = {3.0f, 1.0f, 4.0f, 1.0f, 5.0f};
  constexpr float kMean = 2.8f;

  // The graph. W[i][j] is the share of j's number that goes to i; columns sum to 1, so the total is
  // conserved.
  const auto schedule = graph::make_schedule("ring:directed", {.peers = kNumbers.size()});
  const graph::Weights& ring = schedule->at(0, 0);
  for (const graph::Edge& edge : ring.edges()) {
    fmt::print("peer {} gives {} of its number to peer {}\n", edge.sender, edge.weight,
               edge.receiver);
  }

  // The five peers in one process. A model has one entry here; that of a network has millions.
  algorithm::LocalPeers peers({.graph = "ring:directed", .peers = kNumbers.size(), .dim = 1});
  const auto method = algorithm::make_algorithm("sgp", peers.bank());
  for (std::size_t i = 0; i < kNumbers.size(); ++i) method->initial().row(i)[0] = kNumbers[i];
  method->start();

  for (int round = 0; round <= 60; ++round) {
    if (round % 15 == 0) {
      fmt::print("after {:2} rounds:", round);
      for (std::size_t i = 0; i < kNumbers.size(); ++i) {
        fmt::print(" {:.5f}", method->point().row(i)[0]);
      }
      fmt::print("\n");
    }
    peers.run_round(*method);
  }

  // Every round shrinks the consensus distance by the graph's second eigenvalue, 0.81 here.
  float error = 0;
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    error = std::max(error, std::abs(method->point().row(i)[0] - kMean));
  }
  fmt::print("largest error: {:.0e}\n", error);
  return error < 1e-4f ? 0 : 1;
}
