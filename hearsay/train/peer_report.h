#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hearsay/core/bytes.h"
#include "hearsay/engine/objective.h"
#include "hearsay/gossip/ledger.h"
#include "hearsay/train/metrics.h"

namespace hearsay::train {

/// The result of an evaluation for one peer, in whichever process it lives.
struct PeerReport {
  engine::Score score{};
  double divergence = 0;        ///< distance to consensus: |z_i - mean z|_2
  double push_sum = 1;          ///< u_i
  gossip::PeerTotals totals{};  ///< losses and traffic
};

/// The values that are the same for all peers.
struct RunReport {
  std::uint64_t round = 0;  ///< completed rounds
  double epoch = 0;
  double lr = 0;
  gossip::RunTotals totals{};
};

/// Append the bytes of a report to `out`; the same number of bytes for every peer of a run.
void append_report(Bytes& out, const PeerReport& report);

/// The next report. Throws CorruptData if there is none.
PeerReport read_peer_report(ByteReader& in);

/// The evaluation of a run from the reports of all its peers, ascending, and the score of the
/// averaged model; `metrics` are the objective's. Sums and means run over peers in that order, so
/// they have the same bits wherever the peers live. `seconds` stays 0: the caller sets it.
Metrics assemble(std::span<const PeerReport> peers, std::span<const engine::Metric> metrics,
                 const engine::Score& averaged, const RunReport& run);

/// The same, over some of the peers: values of others do not count, and lists have NaN for them.
/// `counts` has an entry for every peer; traffic is that of all in `peers`.
Metrics assemble_some(std::span<const PeerReport> peers, const std::vector<bool>& counts,
                      std::span<const engine::Metric> metrics, const engine::Score& averaged,
                      const RunReport& run);

/// The total traffic that all peers of a run have sent.
gossip::Traffic total_traffic(std::span<const PeerReport> peers, std::uint64_t global_bytes);

}  // namespace hearsay::train
