#include "hearsay/train/peer_report.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::train {

namespace {

/// visitor(member) for all members of a report, in the order of its bytes, so that writing and
/// reading cannot differ.
template <class R, class Visitor>
void for_each_figure(R& report, const Visitor& visitor) {
  visitor(report.score.loss);
  visitor(report.score.values);
  visitor(report.score.validation_loss);
  visitor(report.score.validation_values);
  visitor(report.divergence);
  visitor(report.push_sum);
  visitor(report.totals.loss_sum);
  visitor(report.totals.traffic.messages);
  visitor(report.totals.traffic.edge_rounds);
  visitor(report.totals.traffic.bytes);
  visitor(report.totals.traffic.paper_bytes);
  visitor(report.totals.bytes_ahead);
}

struct Writer {
  Bytes& out;

  template <class T>
  void operator()(T value) const {
    append(out, value);
  }
  void operator()(const std::optional<double>& value) const {
    append(out, std::uint8_t{value.has_value()});
    append(out, value.value_or(0));
  }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    append(out, static_cast<std::uint32_t>(values.size()));
    for (const T value : values) append(out, value);
  }
};

struct Reader {
  ByteReader& in;

  template <class T>
  void operator()(T& value) const {
    value = in.read<T>();
  }
  void operator()(std::optional<double>& value) const {
    const auto present = in.read<std::uint8_t>();
    const auto number = in.read<double>();
    if (present > 1) {
      throw CorruptData(fmt::format("[{}] has {} where 0 or 1 belongs", in.what(), present));
    }
    if (present == 1) value = number;
  }
  template <class T>
  void operator()(std::vector<T>& values) const {
    const auto count = in.read<std::uint32_t>();
    values.clear();
    for (std::uint32_t k = 0; k < count; ++k) values.push_back(in.read<T>());
  }
};

/// The mean over peers of `value` of each score; empty if that is empty.
template <class Value>
std::optional<double> mean_of(std::span<const PeerReport> peers, const Value& value) {
  double sum = 0;
  for (const PeerReport& peer : peers) {
    const std::optional<double> one = value(peer.score);
    if (!one) return {};
    sum += *one / static_cast<double>(peers.size());
  }
  return sum;
}

std::optional<double> at(const std::vector<double>& values, std::size_t k) {
  return k < values.size() ? std::optional(values[k]) : std::nullopt;
}

/// Assembles metric k of the objective.
MetricResult assemble_metric(std::span<const PeerReport> peers, const engine::Metric& metric,
                             std::size_t k, const engine::Score& averaged) {
  MetricResult result{metric};
  result.averaged = at(averaged.values, k);
  result.validation_averaged = at(averaged.validation_values, k);
  result.validation_mean =
      mean_of(peers, [&](const engine::Score& score) { return at(score.validation_values, k); });
  if (!metric.by_peer) {
    result.mean = mean_of(peers, [&](const engine::Score& score) { return at(score.values, k); });
    return result;
  }
  for (const PeerReport& peer : peers) {
    if (const auto value = at(peer.score.values, k)) result.by_peer.push_back(*value);
  }
  if (result.by_peer.empty()) return result;
  const auto [least, most] = std::ranges::minmax(result.by_peer);
  result.min = least;
  result.max = most;
  // Divided last, unlike the means above, so that files of all versions have the same bits.
  result.mean = std::accumulate(result.by_peer.begin(), result.by_peer.end(), 0.0) /
                static_cast<double>(peers.size());
  return result;
}

/// `values`, one for each peer that counts, with NaN for the others.
std::vector<double> spread(const std::vector<double>& values, const std::vector<bool>& counts) {
  if (values.empty()) return {};
  std::vector<double> all(counts.size(), std::numeric_limits<double>::quiet_NaN());
  auto next = values.begin();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i]) all[i] = *next++;
  }
  return all;
}

double train_loss(std::span<const PeerReport> peers, const RunReport& run) {
  if (run.totals.loss_rounds == 0) return run.totals.last_train_loss;
  double sum = 0;
  for (const PeerReport& peer : peers) sum += peer.totals.loss_sum;
  return sum / (static_cast<double>(peers.size()) * static_cast<double>(run.totals.loss_rounds));
}

}  // namespace

void append_report(Bytes& out, const PeerReport& report) { for_each_figure(report, Writer{out}); }

PeerReport read_peer_report(ByteReader& in) {
  PeerReport report;
  for_each_figure(report, Reader{in});
  return report;
}

Metrics assemble(std::span<const PeerReport> peers, std::span<const engine::Metric> metrics,
                 const engine::Score& averaged, const RunReport& run) {
  const double count = static_cast<double>(peers.size());
  Metrics m;
  m.round = run.round;
  m.epoch = run.epoch;
  m.lr = run.lr;
  m.train_loss = train_loss(peers, run);
  m.loss_of_average = averaged.loss;
  m.validation_loss_of_average = averaged.validation_loss;
  for (const PeerReport& peer : peers) {
    m.loss += peer.score.loss / count;
    m.divergence += peer.divergence / count;
  }
  m.validation_loss =
      mean_of(peers, [](const engine::Score& score) { return score.validation_loss; });
  for (std::size_t k = 0; k < metrics.size(); ++k) {
    m.results.push_back(assemble_metric(peers, metrics[k], k, averaged));
  }
  m.divergence_per_dim = m.divergence / static_cast<double>(run.totals.dim);
  m.traffic = total_traffic(peers, run.totals.global_bytes);
  m.mass_drift = run.totals.mass_drift;
  if (!peers.empty()) {
    m.push_sum_min = std::ranges::min_element(peers, {}, &PeerReport::push_sum)->push_sum;
    m.push_sum_max = std::ranges::max_element(peers, {}, &PeerReport::push_sum)->push_sum;
  }
  if (peers.size() <= Metrics::kPushSumsTold && (m.push_sum_min != 1 || m.push_sum_max != 1)) {
    for (const PeerReport& peer : peers) m.push_sum.push_back(peer.push_sum);
  }
  m.simulated_seconds = run.totals.simulated_seconds;
  return m;
}

Metrics assemble_some(std::span<const PeerReport> peers, const std::vector<bool>& counts,
                      std::span<const engine::Metric> metrics, const engine::Score& averaged,
                      const RunReport& run) {
  if (std::ranges::find(counts, false) == counts.end()) {
    return assemble(peers, metrics, averaged, run);
  }
  std::vector<PeerReport> counted;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (counts[i]) counted.push_back(peers[i]);
  }
  Metrics m = assemble(counted, metrics, averaged, run);
  m.traffic = total_traffic(peers, run.totals.global_bytes);
  for (MetricResult& result : m.results) result.by_peer = spread(result.by_peer, counts);
  m.push_sum = spread(m.push_sum, counts);
  return m;
}

gossip::Traffic total_traffic(std::span<const PeerReport> peers, std::uint64_t global_bytes) {
  gossip::Traffic total;
  for (const PeerReport& peer : peers) {
    total.messages += peer.totals.traffic.messages;
    total.edge_rounds += peer.totals.traffic.edge_rounds;
    total.bytes += peer.totals.traffic.bytes;
    total.paper_bytes += peer.totals.traffic.paper_bytes;
    if (peers.size() <= gossip::Traffic::kPeersTold)
      total.bytes_by_peer.push_back(peer.totals.traffic.bytes);
  }
  for (std::uint32_t i = 0; i < peers.size(); ++i) {
    for (std::uint32_t k = 0; k < peers[i].totals.bytes_ahead.size(); ++k) {
      const std::uint64_t bytes = peers[i].totals.bytes_ahead[k];
      const auto receiver = static_cast<std::uint32_t>((i + 1 + k) % peers.size());
      if (bytes > 0) total.bytes_by_edge.push_back({i, receiver, bytes});
    }
  }
  total.global_bytes = global_bytes;
  return total;
}

}  // namespace hearsay::train
