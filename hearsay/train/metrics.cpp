#include "hearsay/train/metrics.h"

#include <nlohmann/json.hpp>

namespace hearsay::train {

std::string to_json_line(const Metrics& m) {
  nlohmann::ordered_json line;
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) line[key] = *value;
  };
  line["round"] = m.round;
  line["epoch"] = m.epoch;
  line["lr"] = m.lr;
  line["train_loss"] = m.train_loss;
  line["loss"] = m.loss;
  line["loss_of_average"] = m.loss_of_average;
  add("accuracy_mean", m.accuracy_mean);
  add("accuracy_min", m.accuracy_min);
  add("accuracy_max", m.accuracy_max);
  add("accuracy_of_average", m.accuracy_of_average);
  if (!m.accuracy.empty()) line["accuracy"] = m.accuracy;
  add("validation_loss", m.validation_loss);
  add("validation_loss_of_average", m.validation_loss_of_average);
  add("validation_accuracy_mean", m.validation_accuracy_mean);
  add("validation_accuracy_of_average", m.validation_accuracy_of_average);
  add("distance_to_optimum", m.distance_to_optimum);
  add("distance_of_average", m.distance_of_average);
  line["divergence"] = m.divergence;
  line["divergence_per_dim"] = m.divergence_per_dim;
  line["bytes_total"] = m.traffic.bytes;
  line["global_bytes_total"] = m.traffic.global_bytes;
  line["mass_drift"] = m.mass_drift;
  line["push_sum_min"] = m.push_sum_min;
  line["push_sum_max"] = m.push_sum_max;
  add("simulated_seconds", m.simulated_seconds);
  line["seconds"] = m.seconds;
  return line.dump();
}

}  // namespace hearsay::train
