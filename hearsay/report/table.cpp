#include "hearsay/report/table.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/text.h"
#include "hearsay/report/fit.h"
#include "hearsay/report/record.h"
#include "hearsay/train/metric_list.h"

namespace hearsay::report {

namespace {

using Json = nlohmann::json;

std::optional<double> number(const Json& summary, std::string_view key) {
  if (key == kAllBytes) {
    const auto sum = number(summary, "bytes_total"), global = number(summary, "global_bytes_total");
    return sum ? std::optional(*sum + global.value_or(0)) : std::nullopt;
  }
  const auto found = summary.find(key);
  if (found == summary.end() || !found->is_number()) return {};
  return found->get<double>();
}

/// A number of a summary under a title. Columns that no run has are omitted.
struct Column {
  std::string title, key;
  std::string format{};            ///< of fmt, or "B" for bytes
  const engine::Metric* metric{};  ///< says how to print it instead
};

/// The columns of the metrics of some runs. Titles such as "worst peer" refer to the first metric;
/// those of other metrics contain the metric's name.
void append_metric_columns(std::span<const engine::Metric> metrics, bool averaged,
                           std::vector<Column>& columns) {
  for (std::size_t k = 0; k < metrics.size(); ++k) {
    const engine::Metric& metric = metrics[k];
    const engine::MetricKeys keys = engine::keys_of(metric);
    const std::string label(metric.label);
    const std::string unit = metric.unit.empty() ? "" : fmt::format(" {}", metric.unit);
    const auto add = [&](const std::string& title, const std::string& key) {
      columns.push_back({title, key, "", &metric});
    };
    add(label + unit, keys.mean);
    if (metric.by_peer) {
      add(k == 0 ? "worst peer" : "worst " + label, keys.worst(metric));
      if (averaged) add(k == 0 ? "averaged model" : label + ", averaged model", keys.averaged);
    }
    if (metric.on_samples) {
      const bool named = k > 0 || unit.empty();
      add("validation" + (named ? " " + label : "") + unit, keys.validation_mean);
    }
  }
}

/// All columns of tables of runs.
std::vector<Column> all_columns(std::span<const engine::Metric> metrics) {
  std::vector<Column> columns;
  append_metric_columns(metrics, true, columns);
  const Column others[] = {
      {"loss", "loss", "{:.4g}"},
      {"bytes sent", kAllBytes, "B"},
      {"of it global", "global_bytes_total", "B"},
      {"bytes/message", "bytes_per_edge_round", "B"},
      {"factor", "compression_factor", "{:.1f}x"},
      {"consensus distance", "divergence", "{:.3g}"},
      {"mass drift", "mass_drift", "{:.1e}"},
      {"simulated s", "simulated_seconds", "{:.4g}"},
      {"seconds", "seconds", "{:.2f}"},
  };
  columns.insert(columns.end(), std::begin(others), std::end(others));
  return columns;
}

/// The metrics that any of the runs has.
train::MetricList metrics_of(std::span<const Json> summaries) {
  train::MetricList all;
  for (const Json& summary : summaries) {
    const auto found = summary.find("metrics");
    all.add(train::MetricList(found == summary.end() ? "" : found->dump()).rows());
  }
  return all;
}

std::string text_of(double value, const Column& column) {
  if (column.metric != nullptr) return engine::format_value(*column.metric, value);
  return column.format == "B" ? human_bytes(value)
                              : fmt::format(fmt::runtime(column.format), value);
}

Cell cell(const Json& summary, const Column& column) {
  const auto value = number(summary, column.key);
  if (!value) return {"-"};
  Cell cell{text_of(*value, column), *value};
  const auto deviations = summary.find("deviation");
  if (deviations == summary.end() || !deviations->is_object()) return cell;
  const auto found = deviations->find(column.key);
  if (found == deviations->end() || !found->is_number() || found->get<double>() == 0) return cell;
  cell.text += " +- " + text_of(found->get<double>(), column);
  return cell;
}

bool says_something(const Cell& cell) { return cell.text != "-" && cell.text != "0 B"; }

/// One cell per summary in rows[1..], the title in rows[0]; columns that no run has are omitted.
void append_columns(std::span<const Column> columns, std::span<const Json> summaries, Cells& rows) {
  for (const Column& column : columns) {
    std::vector<Cell> cells;
    for (const Json& summary : summaries) cells.push_back(cell(summary, column));
    if (std::ranges::none_of(cells, says_something)) continue;
    rows.front().push_back({column.title});
    for (std::size_t i = 0; i < cells.size(); ++i) rows[i + 1].push_back(cells[i]);
  }
}

TextRows texts(const Cells& rows) {
  TextRows all;
  for (const auto& row : rows) {
    auto& out = all.emplace_back();
    for (const Cell& one : row) out.push_back(one.text);
  }
  return all;
}

/// A table of runs for a terminal. What is the same for all of them is needed least, then what is
/// seen elsewhere.
std::string table_text(TextRows rows, bool wide) {
  if (wide) return format_table(rows);
  std::vector<std::string> least{"mass drift", "bytes/message"};
  for (const char* setting : {"compressor", "graph", "algorithm"}) {
    const auto found = std::ranges::find(rows.front(), setting);
    if (found == rows.front().end()) continue;
    const auto column = static_cast<std::size_t>(found - rows.front().begin());
    const bool same = std::all_of(rows.begin() + 1, rows.end(),
                                  [&](const auto& row) { return row[column] == rows[1][column]; });
    if (same) least.emplace_back(setting);
  }
  for (const char* title : {"peers", "of it global", "simulated s", "consensus distance", "seconds",
                            "loss", "averaged model", "factor"}) {
    least.emplace_back(title);
  }
  return narrowed_table(std::move(rows), least);
}

}  // namespace

std::string run_table(std::string_view summary_json, bool wide) {
  const Json summary = Json::parse(summary_json);
  const auto peers = number(summary, "peers");
  std::vector<std::string> head{"peers"}, row{peers ? fmt::format("{:.0f}", *peers) : "-"};
  const train::MetricList metrics = metrics_of({&summary, 1});
  for (const Column& column : all_columns(metrics.rows())) {
    const Cell shown = cell(summary, column);
    if (!says_something(shown)) continue;
    head.emplace_back(column.title);
    row.push_back(shown.text);
  }
  return table_text({head, row}, wide);
}

Cells summary_cells(std::span<const NamedSummary> summaries) {
  std::vector<Json> parsed;
  Cells rows{{{"run"}}};
  for (const NamedSummary& summary : summaries) {
    parsed.push_back(Json::parse(summary.json));
    rows.push_back({{summary.name}});
  }
  const train::MetricList metrics = metrics_of(parsed);
  append_columns(all_columns(metrics.rows()), parsed, rows);
  return rows;
}

std::string control_table(const std::filesystem::path& run) {
  const Record record(run);
  std::vector<Json> summaries{Json::parse(record.summary_json())};
  Cells rows{{{"run"}}, {{"this run"}}};
  std::vector<std::string> problems;  // ignored: the run has just written them
  for (const auto& [label, control] : control_records(run, record.config(), problems)) {
    summaries.push_back(Json::parse(control.summary_json()));
    rows.push_back({{label}});
  }
  const train::MetricList metrics = metrics_of(summaries);
  std::vector<Column> columns;
  append_metric_columns(metrics.rows(), false, columns);
  columns.push_back({"bytes sent", kAllBytes, "B"});
  columns.push_back({"factor", "compression_factor", "{:.1f}x"});
  append_columns(columns, summaries, rows);
  return format_table(texts(rows));
}

std::string seeds_table(const Runs& runs) {
  std::vector<NamedSummary> summaries;
  for (const SeedGroup& group : runs.groups) {
    for (const std::size_t i : group.runs) {
      const Record& record = runs.runs[i].record;
      summaries.push_back({fmt::format("seed {}{}", record.config().seed,
                                       record.finished() ? "" : " (not finished)"),
                           record.summary_json()});
    }
    if (!group.mean) continue;
    const std::string n = fmt::format("{:.0f}", group.mean->record.figure("n").value_or(0));
    summaries.push_back({"mean +- deviation, n = " + n, group.mean->record.summary_json()});
  }
  return format_table(texts(summary_cells(summaries)));
}

Comparison compare_runs(const Runs& runs, bool wide) {
  Comparison comparison{"", runs.runs.size(), runs.problems};
  if (runs.runs.empty()) return comparison;
  std::vector<Json> summaries;
  Cells rows{{{"run"}, {"algorithm"}, {"graph"}, {"compressor"}}};
  for (const SeedGroup& group : runs.groups) {
    const ShownRun& run = shown_of(runs, group);
    const train::RunOptions& config = run.record.config();
    summaries.push_back(Json::parse(run.record.summary_json()));
    rows.push_back({{run.label + (run.record.finished() ? "" : " (not finished)")},
                    {config.algorithm},
                    {config.graph},
                    {config.compressor}});
  }
  const train::MetricList metrics = metrics_of(summaries);
  append_columns(all_columns(metrics.rows()), summaries, rows);
  comparison.table = table_text(texts(rows), wide);
  return comparison;
}

Comparison compare_runs(std::span<const std::string> directories, bool wide) {
  return compare_runs(read_runs(directories), wide);
}

}  // namespace hearsay::report
