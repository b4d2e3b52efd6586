#include "hearsay/train/metrics.h"

#include <cmath>

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

std::optional<Metrics> from_json_line(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return {};
  Metrics m;
  const auto find = [&](const char* key) -> std::optional<double> {
    const auto found = json.find(key);
    if (found == json.end()) return {};
    // JSON has no infinity: what was not finite stands there as null.
    return found->is_number() ? found->get<double>() : std::nan("");
  };
  const auto read = [&](const char* key, double& value) { value = find(key).value_or(value); };
  const auto read_count = [&](const char* key, std::uint64_t& value) {
    const auto found = json.find(key);
    if (found != json.end() && found->is_number_unsigned()) value = found->get<std::uint64_t>();
  };
  read_count("round", m.round);
  read("epoch", m.epoch);
  read("lr", m.lr);
  read("train_loss", m.train_loss);
  read("loss", m.loss);
  read("loss_of_average", m.loss_of_average);
  m.accuracy_mean = find("accuracy_mean");
  m.accuracy_min = find("accuracy_min");
  m.accuracy_max = find("accuracy_max");
  m.accuracy_of_average = find("accuracy_of_average");
  if (const auto peers = json.find("accuracy"); peers != json.end() && peers->is_array()) {
    for (const auto& one : *peers) m.accuracy.push_back(one.is_number() ? one.get<double>() : 0);
  }
  m.validation_loss = find("validation_loss");
  m.validation_loss_of_average = find("validation_loss_of_average");
  m.validation_accuracy_mean = find("validation_accuracy_mean");
  m.validation_accuracy_of_average = find("validation_accuracy_of_average");
  m.distance_to_optimum = find("distance_to_optimum");
  m.distance_of_average = find("distance_of_average");
  read("divergence", m.divergence);
  read("divergence_per_dim", m.divergence_per_dim);
  read_count("bytes_total", m.traffic.bytes);
  read_count("global_bytes_total", m.traffic.global_bytes);
  read("mass_drift", m.mass_drift);
  read("push_sum_min", m.push_sum_min);
  read("push_sum_max", m.push_sum_max);
  m.simulated_seconds = find("simulated_seconds");
  read("seconds", m.seconds);
  return m;
}

}  // namespace hearsay::train
