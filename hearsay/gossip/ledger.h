#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/backend/state.h"
#include "hearsay/compress/payload.h"
#include "hearsay/core/error.h"
#include "hearsay/gossip/link.h"
#include "hearsay/gossip/traffic.h"
#include "hearsay/graph/weights.h"

namespace hearsay::gossip {

/// A loss or a model that is no longer finite. Its text ends in kLowerRate; who knows the settings
/// of the run may say more.
class NotFinite : public RunFailed {
 public:
  using RunFailed::RunFailed;
};
inline constexpr std::string_view kLowerRate = "; lower --lr or the averaging rate eta";

/// Totals of one peer.
struct PeerTotals {
  double loss_sum = 0;  ///< of its minibatches since the last evaluation
  Traffic traffic{};    ///< what it sent over edges; global averages are in RunTotals
  /// [k]: bytes that this peer i sent to peer (i + 1 + k) mod n; n - 1 entries, or none (see
  /// Traffic::bytes_by_edge).
  std::vector<std::uint64_t> bytes_ahead{};
};

/// Totals of the run that are not per peer.
struct RunTotals {
  std::size_t dim = 1;             ///< floats of a model
  std::uint64_t loss_rounds = 0;   ///< gradients in each loss_sum
  double last_train_loss = 0;      ///< at the last evaluation
  double mass_drift = 0;           ///< maximum so far
  std::uint64_t global_bytes = 0;  ///< bytes of global averages
  std::optional<double> simulated_seconds{};
};

/// Accumulates the rounds of a bank of m peers, per peer: losses, traffic, the clocks of simulated
/// links, and whether all values are still finite.
///
/// Rounds are recorded in order, but possibly after the device computed them (machine.h), so a
/// non-finite model does not throw here: the first one is kept for `check`, and nothing more is
/// added.
class Ledger {
 public:
  /// For peers `first` to first + rows - 1 of `peers`; must be all of them if the link is
  /// simulated, which needs all clocks. `dim`: floats per model. `by_edge`: count bytes by edge
  /// (traffic.h).
  struct Shape {
    std::size_t peers = 0, first = 0, rows = 0, dim = 0;
    bool by_edge = false;
  };
  Ledger(Link link, const Shape& shape);

  const Link& link() const { return link_; }

  /// Every peer took a gradient, with these losses.
  void gradient(std::uint64_t round, std::span<const double> losses);
  /// Every peer took a step; `norms`: squared norms of the directions.
  void step(std::uint64_t round, std::span<const double> norms);
  /// Every peer encoded its messages; one Lengths per vector that a peer sends.
  void emitted(std::span<const compress::Lengths> vectors);
  /// The messages emitted last were sent over the edges of `weights`.
  void gossip(const graph::Weights& weights, bool send_first);
  /// All n peers of the run took part in a global average.
  void global();
  /// Squared norms of the peers' models after `rounds` rounds.
  void models(std::uint64_t rounds, std::span<const double> norms);
  void drift(double mass_drift);

  /// Throws NotFinite, naming peer and round, if anything recorded so far was not finite.
  void check() const;

  std::span<const double> losses() const { return losses_; }  ///< of the last gradient, per peer

  /// Totals of the peer in that row: losses since the last evaluation, traffic of the whole run.
  PeerTotals totals(std::size_t row) const;
  /// What all peers of the run have in common.
  RunTotals run_totals() const;
  /// What this bank's peers sent, and all peers' global averages; without the lists by peer and
  /// edge.
  Traffic traffic() const;
  /// An evaluation has consumed the losses, whose mean is `train_loss`; resets the sums.
  void evaluated(double train_loss);

  void state(backend::StateList& list);

 private:
  void expect_finite(std::span<const double> norms, std::string_view what, std::uint64_t round);

  Link link_;
  std::size_t peers_, dim_, first_, rows_;
  std::string failure_;
  std::vector<double> losses_;
  std::vector<double> loss_sums_;  ///< per peer, since the last evaluation
  std::uint64_t loss_rounds_ = 0;
  double train_loss_ = 0;
  double mass_drift_ = 0;
  std::vector<std::uint64_t> messages_, edge_rounds_, bytes_, paper_bytes_;  ///< as in Traffic
  std::vector<std::vector<std::uint64_t>> bytes_ahead_;  ///< [k][row]: PeerTotals::bytes_ahead
  std::uint64_t global_bytes_ = 0;                       ///< of all n peers
  struct {
    std::vector<std::size_t> bytes;  ///< per peer, over one edge
    std::size_t vectors = 0, paper_bytes = 0;
  } emitted_;
};

}  // namespace hearsay::gossip
