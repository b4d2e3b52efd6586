#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/engine/score.h"

namespace hearsay::train {

/// `metrics` of summary.json and of the first line of metrics.jsonl: describes the metrics of a
/// run, so that its tables and pages need no other source.
///
///   [{"key": "accuracy", "name": "accuracy", "label": "accuracy", "unit": "%",
///     "meaning": "percent of ...", "better": "larger", "digits": 2, "significant": false,
///     "full": 100.0, "log": false, "on_samples": true, "by_peer": true}]
///
/// Members are those of engine::Metric; empty texts are omitted. Returns JSON.
std::string describe(std::span<const engine::Metric> metrics);

/// Metrics as described by files, with ownership of their texts. Cheap to copy.
class MetricList {
 public:
  static constexpr std::size_t kMost = 8;        ///< rows; further ones are dropped
  static constexpr std::size_t kMostText = 200;  ///< bytes of a text; a row with more is dropped

  MetricList() = default;
  /// Parses such JSON, which may contain anything: damaged rows are dropped. If it is not a list,
  /// as in files of a version that recorded none, engine::known_metrics().
  explicit MetricList(std::string_view json);

  std::span<const engine::Metric> rows() const { return rows_; }

  /// Append the metrics whose key is not present yet.
  void add(std::span<const engine::Metric> metrics);

 private:
  std::vector<engine::Metric> rows_;
  /// Owns the texts that the rows point into; copies of a list share it.
  std::vector<std::shared_ptr<const std::vector<std::string>>> texts_;
};

}  // namespace hearsay::train
