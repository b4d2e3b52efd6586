#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "hearsay/report/page/charts.h"

namespace hearsay::report {

namespace {

using Look = Curve::Look;

constexpr std::size_t kMostPeers = 8;  ///< with a curve each

/// Makes the charts of one run, omitting empty ones.
class Charts {
 public:
  Charts(const ShownRun& run, std::size_t record, bool live)
      : run_(run), record_(record), live_(live) {}

  bool live() const { return live_; }

  Curve curve(std::string name, std::string key, Look look = Look::kPlain) const {
    return {std::move(name), record_, std::move(key), -1, 0, 0, look};
  }

  /// Same style in every chart: the averaged model as a strong line of colour 0 (ink), the mean of
  /// the peers' own models as a dashed one.
  Curve averaged(std::string key) const {
    return curve("averaged model", std::move(key), Look::kStrong);
  }
  Curve mean(std::string key, std::string name = "mean of the peers") const {
    Curve dashed = curve(std::move(name), std::move(key));
    dashed.dash = 1;
    return dashed;
  }

  /// `dull`: if all values equal it, the chart is omitted as uninformative.
  void add(Chart chart, double dull = Columns::kAbsent) {
    bool shown = false;
    std::erase_if(chart.curves, [&](const Curve& curve) {
      const std::vector<double> values = values_of(curve, record_of(curve));
      const auto counts = [&](double v) { return std::isfinite(v) && (live_ || v != dull); };
      shown |= std::ranges::any_of(values, counts);
      return live_ ? values.empty() : !has_some(values);
    });
    if (shown) charts_.push_back(std::move(chart));
  }

  /// One curve per peer of a list, or for many peers the range and its ends.
  std::vector<Curve> of_peers(const std::string& key, std::size_t peers) const {
    std::vector<Curve> curves;
    if (peers > 0 && peers <= kMostPeers) {
      for (std::size_t i = 0; i < peers; ++i) {
        Curve peer = curve(run_.record.peer_name(i), key);
        peer.entry = static_cast<int>(i);
        paint(peer, i);
        curves.push_back(std::move(peer));
      }
      return curves;
    }
    for (const char* end : {"_min", "_max"}) {
      curves.push_back(curve("range of the peers", key + end, Look::kBand));
      curves.back().colour = 1;
    }
    return curves;
  }

  /// The peers with the best and the worst last value of a metric, by name. A value that is not
  /// finite is the worst.
  std::vector<Curve> ends_of(const engine::Metric& metric) const {
    const std::string key(metric.key);
    const Columns& columns = run_.record.columns();
    const std::size_t peers = columns.entries(key);
    if (peers <= kMostPeers) return {};
    const auto last = [&](std::size_t i) {
      const double value = columns.figure(key, i).back();
      const double worst = std::numeric_limits<double>::infinity();
      if (std::isfinite(value)) return value;
      return metric.better == engine::Metric::Better::kLarger ? -worst : worst;
    };
    std::size_t best = peers, worst = peers;
    for (std::size_t i = 0; i < peers; ++i) {
      if (std::isnan(columns.figure(key, i).back())) continue;  // nothing is known of it
      if (best == peers) best = worst = i;
      if (engine::is_better(metric, last(worst), last(i))) worst = i;
      if (engine::is_better(metric, last(i), last(best))) best = i;
    }
    if (best == peers) return {};
    std::vector<Curve> curves;
    for (const auto& [word, peer, colour] : {std::tuple("best", best, 3), {"worst", worst, 2}}) {
      curves.push_back(
          curve(fmt::format("{}, {} at the end", run_.record.peer_name(peer), word), key));
      curves.back().entry = static_cast<int>(peer);
      curves.back().colour = static_cast<std::size_t>(colour);
    }
    return curves;
  }

  const Record& record_of(const Curve& curve) const {
    return curve.record == record_ ? run_.record : run_.controls[curve.record - record_ - 1].second;
  }
  std::vector<Chart> take() { return std::move(charts_); }

 private:
  const ShownRun& run_;
  std::size_t record_;
  bool live_;
  std::vector<Chart> charts_;
};

/// The curves of a metric: every peer's where files have them, the mean, the averaged model.
std::vector<Curve> metric_curves(const Charts& charts, const engine::Metric& metric,
                                 std::size_t peers) {
  const engine::MetricKeys keys = engine::keys_of(metric);
  if (!metric.by_peer) return {charts.averaged(keys.averaged), charts.mean(keys.mean)};
  std::vector<Curve> curves = charts.of_peers(keys.by_peer, peers);
  for (Curve& end : charts.ends_of(metric)) curves.push_back(std::move(end));
  curves.push_back(charts.mean(keys.mean));
  curves.push_back(charts.averaged(keys.averaged));
  return curves;
}

/// The run's main metric beside the baselines, and against the bytes sent.
void add_comparisons(Charts& charts, const ShownRun& run, std::size_t record,
                     const engine::Metric& metric) {
  const engine::MetricKeys keys = engine::keys_of(metric);
  std::vector<Curve> talk{charts.mean(keys.mean, "this run, mean of the peers")};
  for (std::size_t c = 0; c < run.controls.size(); ++c) {
    Curve control = charts.curve(run.controls[c].first, keys.mean);
    control.record = record + 1 + c;
    paint(control, c);
    talk.push_back(std::move(control));
  }
  if (!run.controls.empty()) {
    charts.add({"controls", "Benefit of communication",
                "This run beside two baselines: no communication, and every float over every edge.",
                mean_axis_title(metric), metric.log, "", talk});
  }
  std::vector<Curve> by_bytes = talk;
  by_bytes.insert(by_bytes.begin() + 1, charts.averaged(keys.averaged));
  std::erase_if(by_bytes, [&](const Curve& curve) {
    const std::vector<double> bytes = charts.record_of(curve).bytes();
    return bytes.empty() || (!charts.live() && !(bytes.back() > 0));
  });
  charts.add({fmt::format("{}-bytes", metric.key), title_of(metric) + " for the bytes sent", "",
              axis_title(metric.on_samples ? "Test" : "", metric), metric.log, "bytes",
              std::move(by_bytes)});
}

void add_metric(Charts& charts, const ShownRun& run, std::size_t record,
                const engine::Metric& metric) {
  const engine::MetricKeys keys = engine::keys_of(metric);
  const engine::Metric* main = run.record.main_metric();
  const bool is_main = main != nullptr && main->key == metric.key;
  charts.add({std::string(metric.key),
              title_of(metric) + (metric.by_peer ? " of each peer's own model" : ""),
              std::string(metric.note), axis_title(metric.on_samples ? "Test" : "", metric),
              metric.log, "", metric_curves(charts, metric, run.record.config().peers)});
  if (is_main) add_comparisons(charts, run, record, metric);
  if (!metric.on_samples) return;
  Chart validation = validation_chart(metric, is_main);
  validation.curves = {charts.averaged(keys.validation_averaged),
                       charts.mean(keys.validation_mean)};
  charts.add(std::move(validation));
}

/// A logarithmic axis if all values are positive and span more than two orders of magnitude.
bool wants_log(const Record& record, std::initializer_list<const char*> keys) {
  double low = Columns::kNotFinite, high = 0;
  for (const char* key : keys) {
    for (double value : record.columns().figure(key)) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  return low > 0 && high > 100 * low;
}

/// Of peers that do not wait for each other.
void add_asynchronous(Charts& charts, const Record& record) {
  charts.add({"rates", "Rounds per second of each peer",
              "Peers train at their own pace; steps and shares are scaled by it, so that all count "
              "the same.",
              "Rounds per second (1/s)", false, "",
              charts.of_peers("rates", record.config().peers)});
  charts.add({"live",
              "Live peers",
              "Those that have died and not yet returned are missing.",
              "Peers",
              false,
              "",
              {charts.curve("live peers", "live_peers", Look::kStrong)}},
             static_cast<double>(record.config().peers));
  charts.add({"staleness",
              "Age of messages",
              "Rounds of its sender between sending and applying a message, as a mean over those "
              "applied since the previous evaluation.",
              "Rounds",
              false,
              "",
              {charts.curve("age", "staleness", Look::kStrong)}});
  std::vector<Curve> fates;
  for (const auto& [name, key] : {std::pair("sends skipped for want of room", "edges_skipped"),
                                  {"messages taken back", "messages_taken_back"},
                                  {"of these settled: they had arrived", "messages_settled"}}) {
    fates.push_back(charts.curve(name, key));
    paint(fates.back(), fates.size() - 1);
  }
  charts.add({"fates", "Messages skipped, taken back and settled",
              "A message is taken back if its connection breaks before it is acked, and settled "
              "once it turns out that it had arrived.",
              "Number so far", false, "", std::move(fates)},
             0);
}

}  // namespace

std::vector<Chart> charts_of_run(const ShownRun& run, std::size_t record, bool live) {
  Charts charts(run, record, live);
  for (const engine::Metric& metric : run.record.metrics()) add_metric(charts, run, record, metric);
  Curve minibatches = charts.curve("minibatches since the previous evaluation", "train_loss");
  paint(minibatches, 0);
  charts.add({"loss",
              "Loss",
              "",
              "Loss",
              wants_log(run.record, {"loss", "loss_of_average"}),
              "",
              {charts.averaged("loss_of_average"), charts.mean("loss"), minibatches}});
  charts.add({"divergence",
              "Consensus distance",
              "How far a peer's model is from the average of all, as a mean over peers.",
              "Euclidean distance",
              true,
              "",
              {charts.curve("consensus distance", "divergence", Look::kStrong)}},
             0);
  charts.add(
      {"push-sum", "Push-sum weights",
       "A peer's model is its sum divided by this weight. All weights together are the number "
       "of peers.",
       "Weight", false, "", charts.of_peers("push_sum", run.record.config().peers)},
      1);
  add_asynchronous(charts, run.record);
  charts.add({"mass-drift",
              "Mass drift",
              "What mixing changed of the sum over peers, which it should not change: the largest "
              "so far, relative to the sum of sizes. Rounding leaves about 1e-8.",
              "Relative change",
              true,
              "",
              {charts.curve("mass drift", "mass_drift", Look::kStrong)}},
             0);
  charts.add({"bytes",
              "Bytes sent by all peers",
              "As encoded for the wire, headers included; global averages count as a ring "
              "all-reduce.",
              "Bytes sent (B)",
              false,
              "",
              {charts.curve("bytes sent", "bytes", Look::kStrong)}},
             0);
  return charts.take();
}

}  // namespace hearsay::report
