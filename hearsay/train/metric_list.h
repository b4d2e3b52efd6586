#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/engine/score.h"

namespace hearsay::train {

/// `metrics` of summary.json and of the first line of metrics.jsonl: which metrics a run has, so
/// that its tables and pages need no table but this.
///
///   [{"key": "accuracy", "name": "accuracy", "label": "accuracy", "unit": "%",
///     "meaning": "percent of ...", "better": "larger", "digits": 2, "significant": false,
///     "full": 100.0, "log": false, "on_samples": true, "by_peer": true}]
///
/// Members are those of engine::Metric; texts that are empty are left out. Returns JSON.
std::string describe(std::span<const engine::Metric> metrics);

/// Rows of metrics that files describe, which it owns. Cheap to copy.
class MetricList {
 public:
  static constexpr std::size_t kMost = 8;        ///< rows; others are not kept
  static constexpr std::size_t kMostText = 200;  ///< bytes of a text; a row with more is not kept

  MetricList() = default;
  /// Those that such JSON describes, which may hold anything: rows that are damaged are left out.
  /// If it is no list, as in files of a version that recorded none, engine::known_metrics().
  explicit MetricList(std::string_view json);

  std::span<const engine::Metric> rows() const { return rows_; }

  /// Append what is not there yet, by its key.
  void add(std::span<const engine::Metric> metrics);

 private:
  std::vector<engine::Metric> rows_;
  /// What the rows' texts point into; copies of a list share it.
  std::vector<std::shared_ptr<const std::vector<std::string>>> texts_;
};

}  // namespace hearsay::train
