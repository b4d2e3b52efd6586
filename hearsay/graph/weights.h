#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hearsay::graph {

/// One directed edge: `receiver` weights what `sender` sends by `weight` = W[receiver][sender].
struct Edge {
  std::uint32_t sender = 0;
  std::uint32_t receiver = 0;
  double weight = 0;

  bool operator==(const Edge&) const = default;
};

/// The mixing matrix W of one round, sparse. Row = receiver, column = sender; column-stochastic
/// means that each sender splits its mass. The diagonal is what a sender keeps: 1 - the sum of its
/// out-edges, so columns sum to 1 by construction. Immutable; copies share their tables and are
/// cheap.
class Weights {
 public:
  Weights() : Weights(0, {}) {}

  /// Edges in any order, each pair once, no self-loops, weights > 0. Throws InvalidArgument
  /// otherwise, and if the out-weights of a sender sum to 1 or more (the diagonal must be
  /// positive).
  Weights(std::size_t peers, std::vector<Edge> edges);

  std::size_t peers() const { return tables_->self.size(); }
  std::size_t edge_count() const { return tables_->by_receiver.size(); }

  std::span<const Edge> into(std::size_t receiver) const;  ///< senders ascending
  std::span<const Edge> out_of(std::size_t sender) const;  ///< receivers ascending
  std::span<const Edge> edges() const {
    return tables_->by_receiver;
  }  ///< receivers, then senders ascending
  double self(std::size_t peer) const { return tables_->self[peer]; }

  /// y = W x. x and y must not overlap.
  void multiply(std::span<const double> x, std::span<double> y) const;
  /// y = W' x.
  void multiply_transposed(std::span<const double> x, std::span<double> y) const;

 private:
  struct Tables {
    std::vector<Edge> by_receiver, by_sender;
    std::vector<std::size_t> receiver_begin, sender_begin;
    std::vector<double> self;
  };

  std::shared_ptr<const Tables> tables_;  ///< shared: a period may repeat a matrix many times
};

/// W with only the edges that begin or end at one of the peers first .. first + rows - 1; its
/// tables have entries for all peers, but edges only for these. W itself if these are all peers.
Weights touching(const Weights& weights, std::size_t first, std::size_t rows);

}  // namespace hearsay::graph
