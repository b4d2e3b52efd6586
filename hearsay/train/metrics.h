#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/gossip/traffic.h"

#include "hearsay/engine/score.h"

namespace hearsay::train {

/// The result of an evaluation for one metric.
struct MetricResult {
  engine::Metric metric;
  std::optional<double> mean{};        ///< over peers
  std::optional<double> min{}, max{};  ///< with Metric::by_peer
  std::optional<double> averaged{};    ///< of the averaged model
  std::vector<double> by_peer{};       ///< of each peer, with Metric::by_peer
  std::optional<double> validation_mean{}, validation_averaged{};  ///< on the samples held out
};

/// One evaluation: a line of metrics.jsonl. Fields that do not apply to a problem stay empty.
struct Metrics {
  std::uint64_t round = 0;  ///< completed rounds
  double epoch = 0;
  double lr = 0;
  double train_loss = 0;  ///< mean minibatch loss over peers and rounds since the last evaluation;
                          ///< that of the last evaluation if no round took a gradient
  double loss = 0;        ///< mean over peers of each model's loss on the whole problem
  double loss_of_average = 0;
  std::vector<MetricResult> results;  ///< one per metric of the objective, in its order
  std::optional<double> validation_loss, validation_loss_of_average;  ///< mean over peers
  double divergence = 0;  ///< consensus distance: mean over peers of |z_i - mean z|_2
  double divergence_per_dim = 0;
  gossip::Traffic traffic;
  double mass_drift = 0;  ///< maximum so far over the measured rounds: those before evaluations
  double push_sum_min = 1, push_sum_max = 1;
  std::vector<double> push_sum;             ///< one per peer, if n <= kPushSumsTold and not all 1
  std::optional<double> simulated_seconds;  ///< with --link
  double seconds = 0;                       ///< of training so far, in this and earlier processes

  /// Of asynchronous peers: what they did so far.
  struct Asynchronous {
    std::optional<double> live{};       ///< peers
    std::optional<double> staleness{};  ///< mean over messages applied since the last evaluation:
                                        ///< rounds of the sender between sending and applying
    std::optional<double> skipped{};    ///< edges that a round skipped
    std::optional<double> taken_back{}, settled{};  ///< messages
    std::optional<double> wire_bytes{};             ///< of all frames
    std::optional<double> rates_min{}, rates_max{};
    std::vector<double> rates{};  ///< rounds per second of each peer
  };
  Asynchronous asynchronous{};

  static constexpr std::size_t kPushSumsTold = 64;

  /// The result of the metric with that key; nullptr if the objective has no such metric.
  const MetricResult* find(std::string_view key) const;
};

/// One line of JSON, without the newline. The first of a file also describes its metrics
/// (metric_list.h).
std::string to_json_line(const Metrics& metrics, bool first = false);

/// Parses such a line, with what it contains: these metrics, and of the traffic neither the number
/// of messages nor the bytes of single peers. Empty if the line is damaged.
std::optional<Metrics> from_json_line(std::string_view line,
                                      std::span<const engine::Metric> metrics);

}  // namespace hearsay::train
