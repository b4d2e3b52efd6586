#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "hearsay/report/page/charts.h"

namespace hearsay::report {

namespace {

using Look = Curve::Look;

constexpr std::size_t kMostPeers = 8;  ///< with a curve each

/// Makes the charts of one run, leaving out what would show nothing.
class Charts {
 public:
  Charts(const ShownRun& run, std::size_t record, bool live)
      : run_(run), record_(record), live_(live) {}

  bool live() const { return live_; }

  Curve curve(std::string name, std::string key, Look look = Look::kPlain) const {
    return {std::move(name), record_, std::move(key), -1, 0, 0, look};
  }

  /// What every chart draws alike: the averaged model as a strong line of ink, the mean of the
  /// peers' own models as a dashed one.
  Curve averaged(std::string key) const {
    return curve("averaged model", std::move(key), Look::kStrong);
  }
  Curve mean(std::string key, std::string name = "mean of the peers") const {
    Curve dashed = curve(std::move(name), std::move(key));
    dashed.dash = 1;
    return dashed;
  }

  /// `dull`: a value that says nothing if all are that.
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

  /// A curve a peer of a list, or if they are many the range of it and its ends.
  std::vector<Curve> of_peers(const std::string& key, std::size_t peers) const {
    std::vector<Curve> curves;
    if (peers > 0 && peers <= kMostPeers) {
      for (std::size_t i = 0; i < peers; ++i) {
        Curve peer = curve(fmt::format("peer {}", i), key);
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

  /// The peers with the least and the greatest last value of a list, by name.
  std::vector<Curve> ends_of(const std::string& key) const {
    const Columns& columns = run_.record.columns();
    const std::size_t peers = columns.entries(key);
    if (peers <= kMostPeers) return {};
    const auto last = [&](std::size_t i) {
      const double value = columns.figure(key, i).back();
      return std::isfinite(value) ? value : 0;
    };
    std::size_t least = 0, greatest = 0;
    for (std::size_t i = 1; i < peers; ++i) {
      if (last(i) < last(least)) least = i;
      if (last(i) > last(greatest)) greatest = i;
    }
    std::vector<Curve> curves;
    for (const auto& [word, peer, colour] :
         {std::tuple("best", greatest, 3), {"worst", least, 2}}) {
      curves.push_back(curve(fmt::format("peer {}, {} at the end", peer, word), key));
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

void add_accuracy(Charts& charts, const ShownRun& run, std::size_t record) {
  const std::size_t peers = run.record.config().count("peers");
  std::vector<Curve> accuracy = charts.of_peers("accuracy", peers);
  for (Curve& end : charts.ends_of("accuracy")) accuracy.push_back(std::move(end));
  accuracy.push_back(charts.mean("accuracy_mean"));
  accuracy.push_back(charts.averaged("accuracy_of_average"));
  charts.add({"accuracy", "Test accuracy of each peer's own model", "", "Test accuracy (%)", false,
              "", std::move(accuracy)});

  std::vector<Curve> talk{charts.mean("accuracy_mean", "this run, mean of the peers")};
  for (std::size_t c = 0; c < run.controls.size(); ++c) {
    const std::string& name = run.controls[c].first;
    Curve control = charts.curve(name == "full" ? "full communication" : name, "accuracy_mean");
    control.record = record + 1 + c;
    paint(control, c);
    talk.push_back(std::move(control));
  }
  if (!run.controls.empty()) {
    charts.add(
        {"controls", "What talking was worth",
         "This run beside two controls: no messages at all, and every float over every edge.",
         "Mean test accuracy (%)", false, "", talk});
  }
  std::vector<Curve> by_bytes = talk;
  by_bytes.insert(by_bytes.begin() + 1, charts.averaged("accuracy_of_average"));
  std::erase_if(by_bytes, [&](const Curve& curve) {
    const std::vector<double> bytes = charts.record_of(curve).bytes();
    return bytes.empty() || (!charts.live() && !(bytes.back() > 0));
  });
  charts.add({"accuracy-bytes", "Test accuracy for the bytes sent", "", "Test accuracy (%)", false,
              "bytes", std::move(by_bytes)});
}

/// Log if the values say so: all positive, and over more than two orders of magnitude.
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

}  // namespace

std::vector<Chart> charts_of_run(const ShownRun& run, std::size_t record, bool live) {
  Charts charts(run, record, live);
  add_accuracy(charts, run, record);
  Curve minibatches = charts.curve("minibatches since the previous evaluation", "train_loss");
  paint(minibatches, 0);
  charts.add({"validation",
              "Accuracy on the samples held out for validation",
              "",
              "Validation accuracy (%)",
              false,
              "",
              {charts.averaged("validation_accuracy_of_average"),
               charts.mean("validation_accuracy_mean")}});
  charts.add({"distance",
              "Distance to the optimum",
              "Relative to the optimum's own length.",
              "Distance (no unit)",
              true,
              "",
              {charts.averaged("distance_of_average"), charts.mean("distance_to_optimum")}});
  charts.add({"loss",
              "Loss",
              "",
              "Loss (no unit)",
              wants_log(run.record, {"loss", "loss_of_average"}),
              "",
              {charts.averaged("loss_of_average"), charts.mean("loss"), minibatches}});
  charts.add({"divergence",
              "Divergence",
              "How far a peer's model is from the average of all, as a mean over peers.",
              "Euclidean distance (no unit)",
              true,
              "",
              {charts.curve("divergence", "divergence", Look::kStrong)}},
             0);
  charts.add(
      {"push-sum", "Push-sum weights",
       "A peer's model is its sum divided by this weight. All weights together are the number "
       "of peers.",
       "Weight (no unit)", false, "",
       charts.of_peers("push_sum", run.record.config().count("peers"))},
      1);
  charts.add({"mass-drift",
              "Mass drift",
              "What mixing changed of the sum over peers, which it should not change: the largest "
              "so far, relative to the sum of sizes. Rounding leaves about 1e-8.",
              "Relative change (no unit)",
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
