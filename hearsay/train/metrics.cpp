#include "hearsay/train/metrics.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "hearsay/train/metric_list.h"

namespace hearsay::train {

namespace {

/// visitor(key, member) for all fields of a line, in order, so that writing and reading cannot
/// differ.
template <class M, class Visitor>
void for_each_figure(M& m, const Visitor& visitor) {
  visitor("round", m.round);
  visitor("epoch", m.epoch);
  visitor("lr", m.lr);
  visitor("train_loss", m.train_loss);
  visitor("loss", m.loss);
  visitor("loss_of_average", m.loss_of_average);
  for (auto& result : m.results) {
    const engine::MetricKeys keys = engine::keys_of(result.metric);
    visitor(keys.mean, result.mean);
    visitor(keys.min, result.min);
    visitor(keys.max, result.max);
    visitor(keys.averaged, result.averaged);
    visitor(keys.by_peer, result.by_peer);
  }
  visitor("validation_loss", m.validation_loss);
  visitor("validation_loss_of_average", m.validation_loss_of_average);
  for (auto& result : m.results) {
    const engine::MetricKeys keys = engine::keys_of(result.metric);
    visitor(keys.validation_mean, result.validation_mean);
    visitor(keys.validation_averaged, result.validation_averaged);
  }
  visitor("divergence", m.divergence);
  visitor("divergence_per_dim", m.divergence_per_dim);
  visitor("bytes_total", m.traffic.bytes);
  visitor("global_bytes_total", m.traffic.global_bytes);
  visitor("paper_bytes_total", m.traffic.paper_bytes);
  visitor("edge_rounds", m.traffic.edge_rounds);
  visitor("mass_drift", m.mass_drift);
  visitor("push_sum_min", m.push_sum_min);
  visitor("push_sum_max", m.push_sum_max);
  visitor("push_sum", m.push_sum);
  visitor("simulated_seconds", m.simulated_seconds);
  visitor("live_peers", m.asynchronous.live);
  visitor("staleness", m.asynchronous.staleness);
  visitor("edges_skipped", m.asynchronous.skipped);
  visitor("messages_taken_back", m.asynchronous.taken_back);
  visitor("messages_settled", m.asynchronous.settled);
  visitor("wire_bytes_total", m.asynchronous.wire_bytes);
  visitor("rates_min", m.asynchronous.rates_min);
  visitor("rates_max", m.asynchronous.rates_max);
  visitor("rates", m.asynchronous.rates);
  visitor("seconds", m.seconds);
}

struct Writer {
  nlohmann::ordered_json& line;

  void operator()(const std::string& key, std::uint64_t value) const { line[key] = value; }
  void operator()(const std::string& key, double value) const { line[key] = value; }
  void operator()(const std::string& key, const std::optional<double>& value) const {
    if (value) line[key] = *value;
  }
  void operator()(const std::string& key, const std::vector<double>& values) const {
    if (!values.empty()) line[key] = values;
  }
};

/// Fields that are missing or of another type are left unchanged.
struct Reader {
  const nlohmann::json& line;

  void operator()(const std::string& key, std::uint64_t& value) const {
    const auto found = line.find(key);
    if (found != line.end() && found->is_number_unsigned()) value = found->get<std::uint64_t>();
  }
  void operator()(const std::string& key, double& value) const {
    const auto found = line.find(key);
    if (found != line.end()) value = number(*found);
  }
  void operator()(const std::string& key, std::optional<double>& value) const {
    const auto found = line.find(key);
    if (found != line.end()) value = number(*found);
  }
  void operator()(const std::string& key, std::vector<double>& values) const {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_array()) return;
    for (const auto& one : *found) values.push_back(number(one));
  }

 private:
  /// JSON has no infinity: values that are not finite are stored as null.
  static double number(const nlohmann::json& value) {
    return value.is_number() ? value.get<double>() : std::nan("");
  }
};

}  // namespace

const MetricResult* Metrics::find(std::string_view key) const {
  const auto found =
      std::ranges::find(results, key, [](const MetricResult& result) { return result.metric.key; });
  return found == results.end() ? nullptr : &*found;
}

std::string to_json_line(const Metrics& metrics, bool first) {
  nlohmann::ordered_json line;
  for_each_figure(metrics, Writer{line});
  if (first) {
    std::vector<engine::Metric> rows;
    for (const MetricResult& result : metrics.results) rows.push_back(result.metric);
    line["metrics"] = nlohmann::ordered_json::parse(describe(rows));
  }
  return line.dump();
}

std::optional<Metrics> from_json_line(std::string_view line,
                                      std::span<const engine::Metric> metrics) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return {};
  Metrics read;
  for (const engine::Metric& metric : metrics) read.results.push_back({metric});
  for_each_figure(read, Reader{json});
  return read;
}

}  // namespace hearsay::train
