#include "hearsay/report/page/charts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "hearsay/report/seeds.h"

namespace hearsay::report {

namespace {

/// A chart of several runs, without its curves, and the quantity that it draws for each.
struct Kind {
  Chart chart;
  std::string key;
};

std::string capital(std::string_view text) {
  std::string upper(text);
  if (!text.empty()) {
    upper[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return upper;
}

/// The charts of a metric; if it is the main metric of any run, also one against the bytes sent.
void append_kinds(const engine::Metric& metric, bool is_main, bool is_first,
                  std::vector<Kind>& kinds) {
  const engine::MetricKeys keys = engine::keys_of(metric);
  const std::string id(metric.key), title = title_of(metric), y = mean_axis_title(metric);
  kinds.push_back({{id, title + ", mean of the peers", "", y, metric.log, "", {}}, keys.mean});
  if (is_main) {
    kinds.push_back({{id + "-bytes", title + " for the bytes sent", "", y, metric.log, "bytes", {}},
                     keys.mean});
  }
  if (!metric.on_samples) return;
  kinds.push_back({validation_chart(metric, is_first), keys.validation_mean});
  kinds.back().chart.title += ", mean of the peers";
}

}  // namespace

std::string title_of(const engine::Metric& metric) {
  return metric.on_samples ? fmt::format("Test {}", metric.name) : capital(metric.name);
}

std::string axis_title(std::string_view before, const engine::Metric& metric) {
  const std::string_view unit = engine::axis_unit(metric);
  return capital(fmt::format("{}{}{}{}", before, before.empty() ? "" : " ", metric.name,
                             unit.empty() ? "" : fmt::format(" ({})", unit)));
}

std::string with_log(std::string title) {
  if (!title.ends_with(')')) return title + " (log)";
  title.insert(title.size() - 1, ", log");
  return title;
}

std::string mean_axis_title(const engine::Metric& metric) {
  return axis_title(metric.on_samples ? "Mean test" : "Mean", metric);
}

Chart validation_chart(const engine::Metric& metric, bool is_first) {
  return {is_first ? "validation" : fmt::format("validation-{}", metric.key),
          capital(metric.name) + " on the samples held out for validation",
          "",
          axis_title("Validation", metric),
          metric.log,
          "",
          {}};
}

void paint(Curve& curve, std::size_t number) {
  curve.colour = 1 + number % kColours;
  curve.dash = (kDashOfColour[number % kColours] + number / kColours) % kDashes;
  curve.mark = (curve.colour + number / (kColours * kDashes)) % kMarks;
}

bool has_some(std::span<const double> values) {
  return std::ranges::any_of(values, [](double value) { return std::isfinite(value); });
}

std::vector<double> values_of(const Curve& curve, const Record& record) {
  if (curve.key == "bytes") return record.bytes();
  const Columns& columns = record.columns();
  const auto found = curve.entry < 0
                         ? columns.figure(curve.key)
                         : columns.figure(curve.key, static_cast<std::size_t>(curve.entry));
  std::vector<double> values(found.begin(), found.end());
  if (curve.key == "train_loss") {
    const auto round = columns.figure("round");
    for (std::size_t k = 0; k < values.size() && round[k] == 0; ++k) values[k] = Columns::kAbsent;
  }
  if (curve.key == "push_sum") {
    const auto low = columns.figure("push_sum_min"), high = columns.figure("push_sum_max");
    values.resize(std::min(low.size(), high.size()), Columns::kAbsent);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (std::isnan(values[k]) && low[k] == 1 && high[k] == 1) values[k] = 1;
    }
  }
  return values;
}

std::vector<Chart> charts_of_several(std::span<const ShownRun* const> runs,
                                     std::span<const std::size_t> record_of) {
  std::map<std::string, std::size_t> numbers;  // of labels
  std::vector<std::size_t> number_of;
  for (const ShownRun* run : runs) {
    number_of.push_back(numbers.emplace(run->label, numbers.size()).first->second);
  }
  std::vector<Kind> kinds;
  bool any_main = false;
  for (const engine::Metric& metric : metrics_of(runs)) {
    const bool is_main = std::ranges::any_of(runs, [&](const ShownRun* run) {
      const engine::Metric* main = run->record.main_metric();
      return main != nullptr && main->key == metric.key;
    });
    append_kinds(metric, is_main, is_main && !any_main, kinds);
    any_main |= is_main;
  }
  const Kind others[] = {
      {{"loss", "Loss, mean of the peers", "", "Loss", false, "", {}}, "loss"},
      {{"divergence",
        "Consensus distance",
        "Mean over peers of the distance from the averaged model.",
        "Euclidean distance",
        true,
        "",
        {}},
       "divergence"},
      {{"mass-drift", "Mass drift", "", "Relative change", true, "", {}}, "mass_drift"},
      {{"bytes", "Bytes sent by all peers", "", "Bytes sent (B)", false, "", {}}, "bytes"}};
  kinds.insert(kinds.end(), std::begin(others), std::end(others));
  std::vector<Chart> charts;
  for (auto& [chart, key] : kinds) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Record& record = runs[i]->record;
      Curve curve{runs[i]->label, record_of[i], key, -1, 0, 0, Curve::Look::kPlain};
      paint(curve, number_of[i]);
      const auto values = values_of(curve, record);
      const bool sent = [&] {
        const auto bytes = record.bytes();
        return !bytes.empty() && bytes.back() > 0;
      }();
      if (!has_some(values) || (chart.axis == "bytes" && !sent)) continue;
      chart.curves.push_back(curve);
      if (!has_some(record.columns().figure(key + kLowSuffix))) continue;
      for (const char* end : {kLowSuffix, kHighSuffix}) {
        Curve edge = curve;
        edge.key += end;
        edge.look = Curve::Look::kBand;
        chart.curves.push_back(std::move(edge));
      }
    }
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace hearsay::report
