#include "hearsay/graph/connectivity.h"

#include <algorithm>
#include <vector>

namespace hearsay::graph {

namespace {

/// A peer that cannot be reached from peer 0 (or that cannot reach peer 0, if `backwards`).
std::optional<std::size_t> unreached(std::span<const Weights> period, bool backwards) {
  std::vector<bool> seen(period.front().peers(), false);
  std::vector<std::size_t> todo{0};
  seen[0] = true;
  while (!todo.empty()) {
    const std::size_t peer = todo.back();
    todo.pop_back();
    for (const Weights& weights : period) {
      for (const Edge& edge : backwards ? weights.into(peer) : weights.out_of(peer)) {
        const std::size_t other = backwards ? edge.sender : edge.receiver;
        if (!seen[other]) todo.push_back(other);
        seen[other] = true;
      }
    }
  }
  const auto found = std::ranges::find(seen, false);
  if (found == seen.end()) return std::nullopt;
  return static_cast<std::size_t>(found - seen.begin());
}

}  // namespace

std::optional<Gap> find_gap(std::span<const Weights> period) {
  if (period.empty() || period.front().peers() == 0) return std::nullopt;
  if (const auto peer = unreached(period, false)) return Gap{.from = 0, .to = *peer};
  if (const auto peer = unreached(period, true)) return Gap{.from = *peer, .to = 0};
  return std::nullopt;
}

}  // namespace hearsay::graph
