// Five peers on a one-way ring, each with one number, find the mean of all five.
//
// There is no central server: in each round a peer receives only from the peer before it. The
// method is push-sum, `sgp` in the registry, which also works on directed graphs.

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "hearsay/gossip/round_driver.h"

namespace algorithm = hearsay::algorithm;
namespace gossip = hearsay::gossip;
namespace graph = hearsay::graph;

int main() {
  constexpr std::array kNumbers = {3.0f, 1.0f, 4.0f, 1.0f, 5.0f};
  constexpr float kMean = 2.8f;

  // The graph. W[i][j] is the share of j's number that goes to i; columns sum to 1, so the total is
  // conserved.
  auto schedule = graph::make_schedule("ring:directed", {.peers = kNumbers.size()});
  for (const graph::Edge& edge : schedule->at(0, 0).edges()) {
    fmt::print("peer {} gives {} of its number to peer {}\n", edge.sender, edge.weight,
               edge.receiver);
  }

  // The five peers in one process. A model has one entry here; that of a network has millions.
  gossip::RoundDriver peers(
      {.layout = hearsay::Layout(1),
       .schedule = std::move(schedule),
       .method = algorithm::make_method("sgp"),
       .initial_model = [&](std::uint32_t peer, std::span<float> x) { x[0] = kNumbers[peer]; }});

  while (peers.round() <= 60) {
    if (peers.round() % 15 == 0) {
      fmt::print("after {:2} rounds:", peers.round());
      for (std::size_t i = 0; i < peers.peers(); ++i) {
        fmt::print(" {:.5f}", peers.models().row(i)[0]);
      }
      fmt::print("\n");
    }
    peers.run_round();  // without gradients: pure averaging
  }

  // Every round shrinks the consensus distance by the graph's second eigenvalue, 0.81 here.
  float error = 0;
  for (std::size_t i = 0; i < peers.peers(); ++i) {
    error = std::max(error, std::abs(peers.models().row(i)[0] - kMean));
  }
  fmt::print("largest error: {:.0e}\n", error);
  return error < 1e-4f ? 0 : 1;
}
