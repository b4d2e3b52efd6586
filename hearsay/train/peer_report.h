#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hearsay/core/bytes.h"
#include "hearsay/engine/objective.h"
#include "hearsay/train/metrics.h"

namespace hearsay::train {

/// What an evaluation finds of one peer, wherever it lives.
struct PeerReport {
  engine::Score score{};
  double divergence = 0;  ///< |z_i - mean z|_2
  double push_sum = 1;    ///< u_i
  double loss_sum = 0;    ///< of its minibatches since the last evaluation
  Traffic traffic{};      ///< of what it sent over edges; global averages are the run's
  /// Bytes that it sent to the peers with the next numbers, and on from 0 to the one before it:
  /// n - 1 of them, or none (Traffic::bytes_by_edge).
  std::vector<std::uint64_t> bytes_ahead{};
};

/// What is the same for all peers.
struct RunReport {
  std::uint64_t round = 0;  ///< rounds done
  double epoch = 0;
  double lr = 0;
  std::size_t dim = 1;             ///< floats of a model
  std::uint64_t loss_rounds = 0;   ///< gradients that each loss_sum is of
  double last_train_loss = 0;      ///< that of the last evaluation
  double mass_drift = 0;           ///< the largest so far
  std::uint64_t global_bytes = 0;  ///< of global averages
  std::optional<double> simulated_seconds{};
};

/// Append the bytes of a report to `out`; the same number of bytes for every peer of a run.
void append_report(Bytes& out, const PeerReport& report);

/// The next report. Throws CorruptData if there is none.
PeerReport read_peer_report(ByteReader& in);

/// The evaluation of a run from the reports of all its peers, ascending, and the score of the
/// averaged model; `metrics` are the objective's. Sums and means run over peers in that order, so
/// they have the same bits wherever the peers live. `seconds` stays 0: it is the caller's.
Metrics assemble(std::span<const PeerReport> peers, std::span<const engine::Metric> metrics,
                 const engine::Score& averaged, const RunReport& run);

/// What all peers of a run have sent.
Traffic total_traffic(std::span<const PeerReport> peers, std::uint64_t global_bytes);

}  // namespace hearsay::train
