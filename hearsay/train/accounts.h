#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/backend/state.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/train/link.h"
#include "hearsay/train/metrics.h"

namespace hearsay::train {

/// What the rounds of a run tell, added up: losses, traffic, the clocks of simulated links, and
/// whether all is still finite.
///
/// Rounds are told in order, but maybe later than they happened (machine.h), so a model that is
/// not finite does not throw here: the first of them is kept for `check`, and nothing is added any
/// more.
class Accounts {
 public:
  /// `dim`: floats of a model. `schedule` outlives the accounts.
  Accounts(Link link, graph::Schedule& schedule, std::uint64_t rounds_per_epoch, std::size_t dim);

  const Link& link() const { return link_; }

  /// Every peer took a gradient, with that loss.
  void gradient(std::uint64_t round, std::span<const double> losses);
  /// They took a step whose direction has that squared norm.
  void step(std::uint64_t round, std::span<const double> norms);
  /// They made messages of these lengths, one a vector that they send.
  void emitted(std::span<const algorithm::Lengths> vectors);
  /// What was emitted last went over the edges of the round's graph.
  void gossip(std::uint64_t round, bool send_first);
  /// They averaged over all peers.
  void global();
  /// Squared norms of the peers' models after `rounds` rounds.
  void models(std::uint64_t rounds, std::span<const double> norms);
  void drift(double mass_drift);

  /// Throws RunFailed if anything told so far was not finite; names peer and round.
  void check() const;

  std::span<const double> losses() const { return losses_; }  ///< of the last gradient, one a peer
  /// The mean over peers and gradients since the last call; what that gave if there were none.
  double take_train_loss();
  double mass_drift() const { return mass_drift_; }
  const Traffic& traffic() const { return traffic_; }

  void state(backend::StateList& list);

 private:
  void expect_finite(std::span<const double> norms, std::string_view what, std::uint64_t round);

  Link link_;
  graph::Schedule& schedule_;
  std::uint64_t rounds_per_epoch_;
  std::size_t dim_;
  std::string failure_;
  std::vector<double> losses_;
  double loss_sum_ = 0;  ///< of all peers and gradients since the last take_train_loss
  std::uint64_t loss_rounds_ = 0;
  double train_loss_ = 0;
  double mass_drift_ = 0;
  Traffic traffic_;
  struct {
    std::vector<std::size_t> bytes;  ///< of each peer, over one edge
    std::size_t vectors = 0, paper_bytes = 0;
  } emitted_;
};

}  // namespace hearsay::train
