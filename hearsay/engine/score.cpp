#include "hearsay/engine/score.h"

#include <array>

#include <fmt/format.h>

namespace hearsay::engine {

std::span<const Metric> known_metrics() {
  static constexpr std::array kKnown{kAccuracy, kRmse, kR2, kDistance};
  return kKnown;
}

bool is_better(const Metric& metric, double value, double than) {
  return metric.better == Metric::Better::kLarger ? value > than : value < than;
}

std::string format_value(const Metric& metric, double value) {
  return metric.significant ? fmt::format("{:.{}g}", value, metric.digits)
                            : fmt::format("{:.{}f}", value, metric.digits);
}

std::string_view axis_unit(const Metric& metric) {
  return metric.axis_unit.empty() ? metric.unit : metric.axis_unit;
}

MetricKeys keys_of(const Metric& metric) {
  const std::string key(metric.key);
  return {.mean = metric.mean_key.empty() ? key + "_mean" : std::string(metric.mean_key),
          .min = key + "_min",
          .max = key + "_max",
          .averaged = key + "_of_average",
          .by_peer = key,
          .validation_mean = "validation_" + key + "_mean",
          .validation_averaged = "validation_" + key + "_of_average"};
}

}  // namespace hearsay::engine
