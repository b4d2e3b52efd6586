#include "hearsay/train/sweep_figures.h"

#include <nlohmann/json.hpp>

#include "hearsay/train/metrics.h"

namespace hearsay::train {

std::span<const Ratio> ratios() {
  static constexpr Ratio kRatios[] = {
      {"bytes_per_edge_round", "bytes_total", false},
      {"paper_bytes_per_edge_round", "paper_bytes_total", false},
      {"compression_factor", "bytes_total", true},
      {"paper_compression_factor", "paper_bytes_total", true},
  };
  return kRatios;
}

std::vector<std::string> figure_keys() {
  Metrics all;
  all.accuracy_mean = all.accuracy_min = all.accuracy_max = all.accuracy_of_average = 0;
  all.validation_loss = all.validation_loss_of_average = 0;
  all.validation_accuracy_mean = all.validation_accuracy_of_average = 0;
  all.distance_to_optimum = all.distance_of_average = all.simulated_seconds = 0;
  std::vector<std::string> keys;
  const auto line = nlohmann::ordered_json::parse(to_json_line(all));
  for (const auto& [key, value] : line.items()) {
    if (value.is_number()) keys.push_back(key);
  }
  for (const Ratio& ratio : ratios()) keys.emplace_back(ratio.name);
  return keys;
}

}  // namespace hearsay::train
