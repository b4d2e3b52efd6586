#include "hearsay/report/evaluation_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/text.h"
#include "hearsay/gossip/liars/liars.h"

namespace hearsay::report {

namespace {

/// A part of the line. If not all fit, those of the highest rank are dropped first.
struct Part {
  std::string text;
  int rank = 0;
};

std::string joined(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) text += (text.empty() ? "" : " ") + part.text;
  return text;
}

/// With its unit, padded to so many digits before the decimal point; a metric printed with
/// significant digits is left-aligned in nine characters.
std::string padded(const engine::Metric& metric, double value, int before) {
  const std::string text = engine::format_value(metric, value);
  const std::string wide = metric.significant
                               ? fmt::format("{:<9}", text)
                               : fmt::format("{:>{}}", text, before + 1 + metric.digits);
  return metric.unit.empty() ? wide : fmt::format("{} {}", wide, metric.unit);
}

/// Adds metric number k of a run: the first is the most important.
void add_metric(const train::MetricResult& result, std::size_t k, std::vector<Part>& parts) {
  const engine::Metric& metric = result.metric;
  const int later = k == 0 ? 0 : 1;
  if (result.mean) {
    parts.push_back(
        {fmt::format("{} {}", metric.label, padded(metric, *result.mean, 2)), 2 * later});
  }
  if (result.min && result.max) {
    parts.push_back({fmt::format("({} .. {})", engine::format_value(metric, *result.min),
                                 engine::format_value(metric, *result.max)),
                     3 + later});
  }
  if (result.validation_mean) {
    const bool named = k > 0 || metric.unit.empty();
    parts.push_back({fmt::format("validation {}{}", named ? fmt::format("{} ", metric.label) : "",
                                 padded(metric, *result.validation_mean, 2)),
                     2 + later});
  }
}

}  // namespace

std::string evaluation_text(const train::Metrics& m, double bytes, int width) {
  std::vector<Part> parts;
  parts.push_back({fmt::format("loss {:<9.4g}", m.loss), 0});
  for (std::size_t k = 0; k < m.results.size(); ++k) add_metric(m.results[k], k, parts);
  parts.push_back({fmt::format("consensus distance {:<9.3g}", m.divergence), 4});
  parts.push_back({fmt::format("{:>9}", human_bytes(bytes)), 1});
  while (parts.size() > 1 && std::cmp_greater(joined(parts).size(), width)) {
    parts.erase(std::ranges::max_element(parts, {}, &Part::rank));
  }
  return joined(parts);
}

std::string peer_value_text(const engine::Metric& metric, double value) {
  return padded(metric, value, 3);
}

std::string liars_text(const train::RunOptions& config) {
  std::string text;
  if (config.robust != "none") text += "; receivers: " + config.robust;
  if (config.liars == "none") return text;
  return text +
         fmt::format("; peers {} lie ({}), and means are without them",
                     fmt::join(gossip::liars_of(config.liars, config.peers, config.seed), ", "),
                     config.liars);
}

}  // namespace hearsay::report
