#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/backend/state.h"
#include "hearsay/gossip/link.h"
#include "hearsay/gossip/traffic.h"
#include "hearsay/graph/schedule.h"

namespace hearsay::gossip {

/// What one peer's rounds add up to.
struct PeerTotals {
  double loss_sum = 0;  ///< of its minibatches since the last evaluation
  Traffic traffic{};    ///< of what it sent over edges; global averages are the run's
  /// Bytes that it sent to the peers with the next numbers, and on from 0 to the one before it:
  /// n - 1 of them, or none (Traffic::bytes_by_edge).
  std::vector<std::uint64_t> bytes_ahead{};
};

/// What all peers of a run have in common.
struct RunTotals {
  std::size_t dim = 1;             ///< floats of a model
  std::uint64_t loss_rounds = 0;   ///< gradients that each loss_sum is of
  double last_train_loss = 0;      ///< that of the last evaluation
  double mass_drift = 0;           ///< the largest so far
  std::uint64_t global_bytes = 0;  ///< of global averages
  std::optional<double> simulated_seconds{};
};

/// What the rounds of a run tell of a bank of m peers, added up for each: losses, traffic, the
/// clocks of simulated links, and whether all is still finite.
///
/// Rounds are told in order, but maybe later than they happened (machine.h), so a model that is
/// not finite does not throw here: the first of them is kept for `check`, and nothing is added any
/// more.
class Ledger {
 public:
  /// Of peers `first` to first + rows - 1: all of them if the link is simulated, which needs all
  /// clocks. `dim`: floats of a model. `schedule` outlives the ledger.
  Ledger(Link link, graph::Schedule& schedule, std::uint64_t rounds_per_epoch, std::size_t dim,
         std::size_t first, std::size_t rows);

  const Link& link() const { return link_; }

  /// Every peer took a gradient, with that loss.
  void gradient(std::uint64_t round, std::span<const double> losses);
  /// They took a step whose direction has that squared norm.
  void step(std::uint64_t round, std::span<const double> norms);
  /// They made messages of these lengths, one a vector that they send.
  void emitted(std::span<const algorithm::Lengths> vectors);
  /// What was emitted last went over the edges of the round's graph.
  void gossip(std::uint64_t round, bool send_first);
  /// All n peers of the run averaged.
  void global();
  /// Squared norms of the peers' models after `rounds` rounds.
  void models(std::uint64_t rounds, std::span<const double> norms);
  void drift(double mass_drift);

  /// Throws RunFailed if anything told so far was not finite; names peer and round.
  void check() const;

  std::span<const double> losses() const { return losses_; }  ///< of the last gradient, one a peer

  /// What the peer in that row did: losses since the last evaluation, traffic of the whole run.
  PeerTotals totals(std::size_t row) const;
  /// What all peers of the run have in common.
  RunTotals run_totals() const;
  /// Losses are in an evaluation, which found that mean; those to come are another's.
  void evaluated(double train_loss);

  void state(backend::StateList& list);

 private:
  void expect_finite(std::span<const double> norms, std::string_view what, std::uint64_t round);

  Link link_;
  graph::Schedule& schedule_;
  std::uint64_t rounds_per_epoch_;
  std::size_t dim_, first_, rows_;
  std::string failure_;
  std::vector<double> losses_;
  std::vector<double> loss_sums_;  ///< of a peer's gradients since the last evaluation
  std::uint64_t loss_rounds_ = 0;
  double train_loss_ = 0;
  double mass_drift_ = 0;
  std::vector<std::uint64_t> messages_, edge_rounds_, bytes_, paper_bytes_;  ///< as in Traffic
  std::vector<std::vector<std::uint64_t>> bytes_ahead_;  ///< [k][row] of PeerReport::bytes_ahead
  std::uint64_t global_bytes_ = 0;                       ///< of all n peers
  struct {
    std::vector<std::size_t> bytes;  ///< of each peer, over one edge
    std::size_t vectors = 0, paper_bytes = 0;
  } emitted_;
};

}  // namespace hearsay::gossip
