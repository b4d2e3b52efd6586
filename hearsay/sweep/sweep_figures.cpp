#include "hearsay/sweep/sweep_figures.h"

#include <nlohmann/json.hpp>

#include "hearsay/train/metrics.h"

namespace hearsay::sweep {

std::span<const Ratio> ratios() {
  static constexpr Ratio kRatios[] = {
      {"bytes_per_edge_round", "bytes_total", false},
      {"paper_bytes_per_edge_round", "paper_bytes_total", false},
      {"compression_factor", "bytes_total", true},
      {"paper_compression_factor", "paper_bytes_total", true},
  };
  return kRatios;
}

std::span<const std::string_view> run_keys() {
  static constexpr std::string_view kKeys[] = {"seconds_per_round", "peak_rss_bytes"};
  return kKeys;
}

std::vector<std::string> figure_keys() {
  train::Metrics all;
  for (const engine::Metric& metric : engine::known_metrics()) {
    train::MetricResult& result = all.results.emplace_back(train::MetricResult{metric});
    result.mean = result.averaged = 0;
    if (metric.by_peer) result.min = result.max = 0;
    if (metric.on_samples) result.validation_mean = result.validation_averaged = 0;
  }
  all.validation_loss = all.validation_loss_of_average = all.simulated_seconds = 0;
  std::vector<std::string> keys;
  const auto line = nlohmann::ordered_json::parse(train::to_json_line(all));
  for (const auto& [key, value] : line.items()) {
    if (value.is_number()) keys.push_back(key);
  }
  for (const Ratio& ratio : ratios()) keys.emplace_back(ratio.name);
  keys.insert(keys.end(), run_keys().begin(), run_keys().end());
  return keys;
}

}  // namespace hearsay::sweep
