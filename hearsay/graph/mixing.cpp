#include "hearsay/graph/mixing.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::graph {

Rule weight_rule(const Arguments& arguments, bool undirected) {
  const std::size_t choice = arguments.choice("weights");
  if (choice == 2 && !undirected) {
    throw InvalidArgument(
        fmt::format("[{}] weights=metropolis needs an undirected graph; use weights=uniform",
                    arguments.name()));
  }
  if (choice == 0) return undirected ? Rule::kMetropolis : Rule::kUniform;
  return choice == 1 ? Rule::kUniform : Rule::kMetropolis;
}

Weights mix(std::size_t peers, std::vector<Edge> edges, Rule rule) {
  const auto ends = [](const Edge& edge) { return std::tuple(edge.sender, edge.receiver); };
  std::erase_if(edges, [](const Edge& edge) { return edge.sender == edge.receiver; });
  if (!std::ranges::is_sorted(edges, {}, ends)) std::ranges::sort(edges, {}, ends);
  const auto same_ends = [&](const Edge& a, const Edge& b) { return ends(a) == ends(b); };
  edges.erase(std::unique(edges.begin(), edges.end(), same_ends), edges.end());

  std::vector<std::size_t> degree(peers, 0);
  for (const Edge& edge : edges) ++degree[edge.sender];
  for (Edge& edge : edges) {
    const std::size_t shares = rule == Rule::kUniform
                                   ? degree[edge.sender]
                                   : std::max(degree[edge.sender], degree[edge.receiver]);
    edge.weight = 1.0 / static_cast<double>(1 + shares);
  }
  return Weights(peers, std::move(edges));
}

void link(std::vector<Edge>& edges, std::size_t a, std::size_t b) {
  const auto first = static_cast<std::uint32_t>(a), second = static_cast<std::uint32_t>(b);
  edges.push_back({.sender = first, .receiver = second});
  edges.push_back({.sender = second, .receiver = first});
}

}  // namespace hearsay::graph
