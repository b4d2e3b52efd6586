#include "hearsay/graph/weights.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::graph {

namespace {

/// The smallest diagonal entry: also rejects out-weights that sum to 1 only up to rounding.
constexpr double kSmallestSelf = 1e-9;

auto sender_first(const Edge& edge) { return std::tuple(edge.sender, edge.receiver); }

void check_edge(const Edge& edge, std::size_t peers) {
  if (edge.sender >= peers || edge.receiver >= peers) {
    throw InvalidArgument(
        fmt::format("[graph] edge {} -> {} names a peer that is not there; peers are 0 to {}",
                    edge.sender, edge.receiver, static_cast<long>(peers) - 1));
  }
  if (edge.sender == edge.receiver) {
    throw InvalidArgument(fmt::format(
        "[graph] edge {} -> {} is a self-loop; leave it out: a peer keeps what it does not send",
        edge.sender, edge.receiver));
  }
  if (!(edge.weight > 0) || !std::isfinite(edge.weight)) {
    throw InvalidArgument(
        fmt::format("[graph] edge {} -> {} has weight {}; weights must be in (0, 1)", edge.sender,
                    edge.receiver, edge.weight));
  }
}

/// Peer p has the edges begin[p] .. begin[p + 1] - 1, for edges sorted by that end.
template <class End>
std::vector<std::size_t> offsets(const std::vector<Edge>& edges, std::size_t peers, End end) {
  std::vector<std::size_t> begin(peers + 1, 0);
  for (const Edge& edge : edges) ++begin[edge.*end + 1];
  for (std::size_t p = 0; p < peers; ++p) begin[p + 1] += begin[p];
  return begin;
}

}  // namespace

Weights::Weights(std::size_t peers, std::vector<Edge> edges) {
  for (const Edge& edge : edges) check_edge(edge, peers);
  if (!std::ranges::is_sorted(edges, {}, sender_first)) std::ranges::sort(edges, {}, sender_first);
  const auto twice = std::ranges::adjacent_find(edges, {}, sender_first);
  if (twice != edges.end()) {
    throw InvalidArgument(fmt::format("[graph] edge {} -> {} is given twice; give each pair once",
                                      twice->sender, twice->receiver));
  }

  Tables tables;
  tables.sender_begin = offsets(edges, peers, &Edge::sender);
  tables.receiver_begin = offsets(edges, peers, &Edge::receiver);
  tables.by_receiver.resize(edges.size());
  std::vector<std::size_t> next = tables.receiver_begin;
  for (const Edge& edge : edges) tables.by_receiver[next[edge.receiver]++] = edge;
  tables.self.assign(peers, 1.0);
  for (const Edge& edge : edges) tables.self[edge.sender] -= edge.weight;
  tables.by_sender = std::move(edges);
  for (std::size_t p = 0; p < peers; ++p) {
    if (tables.self[p] < kSmallestSelf) {
      throw InvalidArgument(fmt::format(
          "[graph] peer {} gives away {:.6g} of its 1; its out-edges must sum to less than 1", p,
          1 - tables.self[p]));
    }
  }
  tables_ = std::make_shared<const Tables>(std::move(tables));
}

Weights touching(const Weights& weights, std::size_t first, std::size_t rows) {
  const auto is_kept = [&](std::size_t peer) { return peer - first < rows; };
  if (rows == weights.peers()) return weights;
  std::vector<Edge> edges;
  for (std::size_t peer = first; peer < first + rows; ++peer) {
    for (const Edge& edge : weights.into(peer)) edges.push_back(edge);
    for (const Edge& edge : weights.out_of(peer)) {
      if (!is_kept(edge.receiver)) edges.push_back(edge);
    }
  }
  return {weights.peers(), std::move(edges)};
}

std::span<const Edge> Weights::into(std::size_t receiver) const {
  const std::size_t begin = tables_->receiver_begin[receiver];
  return std::span(tables_->by_receiver)
      .subspan(begin, tables_->receiver_begin[receiver + 1] - begin);
}

std::span<const Edge> Weights::out_of(std::size_t sender) const {
  const std::size_t begin = tables_->sender_begin[sender];
  return std::span(tables_->by_sender).subspan(begin, tables_->sender_begin[sender + 1] - begin);
}

void Weights::multiply(std::span<const double> x, std::span<double> y) const {
  for (std::size_t i = 0; i < peers(); ++i) {
    double sum = self(i) * x[i];
    for (const Edge& edge : into(i)) sum += edge.weight * x[edge.sender];
    y[i] = sum;
  }
}

void Weights::multiply_transposed(std::span<const double> x, std::span<double> y) const {
  for (std::size_t j = 0; j < peers(); ++j) {
    double sum = self(j) * x[j];
    for (const Edge& edge : out_of(j)) sum += edge.weight * x[edge.receiver];
    y[j] = sum;
  }
}

}  // namespace hearsay::graph
