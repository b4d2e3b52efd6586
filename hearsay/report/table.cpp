#include "hearsay/report/table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/report/record.h"

namespace hearsay::report {

namespace {

using Json = nlohmann::json;

std::string number(const Json& summary, const char* key, const char* format) {
  const auto found = summary.find(key);
  if (found == summary.end() || !found->is_number()) return "-";
  return fmt::format(fmt::runtime(format), found->get<double>());
}

/// Bytes over edges and of global averages.
constexpr const char* kAllBytes = "bytes_total+global_bytes_total";

std::string bytes(const Json& summary, std::string_view key) {
  if (key == kAllBytes) {
    const Json sum = summary.value("bytes_total", Json()),
               global = summary.value("global_bytes_total", Json());
    if (!sum.is_number()) return "-";
    return human_bytes(sum.get<double>() + (global.is_number() ? global.get<double>() : 0));
  }
  const auto found = summary.find(key);
  if (found == summary.end() || !found->is_number()) return "-";
  return human_bytes(found->get<double>());
}

/// name, key, format; "B" formats bytes. Columns that no run has are left out.
struct Column {
  const char *title, *key, *format;
};
constexpr Column kColumns[] = {
    {"accuracy %", "accuracy_mean", "{:.2f}"},
    {"worst peer", "accuracy_min", "{:.2f}"},
    {"of average", "accuracy_of_average", "{:.2f}"},
    {"validation %", "validation_accuracy_mean", "{:.2f}"},
    {"to optimum", "distance_to_optimum", "{:.3g}"},
    {"loss", "loss", "{:.4g}"},
    {"bytes sent", kAllBytes, "B"},
    {"of it global", "global_bytes_total", "B"},
    {"a message", "bytes_per_edge_round", "B"},
    {"factor", "compression_factor", "{:.1f}x"},
    {"divergence", "divergence", "{:.3g}"},
    {"mass drift", "mass_drift", "{:.1e}"},
    {"simulated s", "simulated_seconds", "{:.4g}"},
    {"seconds", "seconds", "{:.2f}"},
};

std::string cell(const Json& summary, const Column& column) {
  return std::string_view(column.format) == "B" ? bytes(summary, column.key)
                                                : number(summary, column.key, column.format);
}

/// A cell a summary in rows[1..], the title in rows[0]; what no run has is left out.
void append_columns(std::span<const Column> columns, std::span<const Json> summaries,
                    std::vector<std::vector<std::string>>& rows) {
  for (const Column& column : columns) {
    std::vector<std::string> cells;
    for (const Json& summary : summaries) cells.push_back(cell(summary, column));
    if (std::ranges::all_of(cells, [](const auto& text) { return text == "-" || text == "0 B"; }))
      continue;
    rows.front().emplace_back(column.title);
    for (std::size_t i = 0; i < cells.size(); ++i) rows[i + 1].push_back(cells[i]);
  }
}

}  // namespace

std::string human_bytes(double bytes) {
  constexpr std::array<const char*, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      line += c == 0 ? fmt::format("{:<{}}", rows[r][c], width[c])
                     : fmt::format("  {:>{}}", rows[r][c], width[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (r == 0) {
      std::size_t total = 0;
      for (std::size_t c = 0; c < width.size(); ++c) total += width[c] + (c > 0 ? 2 : 0);
      text += std::string(total, '-') + "\n";
    }
  }
  return text;
}

std::string run_table(std::string_view summary_json) {
  const Json summary = Json::parse(summary_json);
  std::vector<std::string> head{"peers"}, row{number(summary, "peers", "{:.0f}")};
  for (const Column& column : kColumns) {
    const std::string text = cell(summary, column);
    if (text == "-" || text == "0 B") continue;
    head.emplace_back(column.title);
    row.push_back(text);
  }
  return format_table({head, row});
}

std::vector<std::vector<std::string>> summary_rows(std::span<const NamedSummary> summaries) {
  std::vector<Json> parsed;
  std::vector<std::vector<std::string>> rows{{"run"}};
  for (const NamedSummary& summary : summaries) {
    parsed.push_back(Json::parse(summary.json));
    rows.push_back({summary.name});
  }
  append_columns(kColumns, parsed, rows);
  return rows;
}

std::string control_table(const std::filesystem::path& run) {
  constexpr Column kShown[] = {
      {"accuracy %", "accuracy_mean", "{:.2f}"},
      {"worst peer", "accuracy_min", "{:.2f}"},
      {"validation %", "validation_accuracy_mean", "{:.2f}"},
      {"to optimum", "distance_to_optimum", "{:.3g}"},
      {"bytes sent", kAllBytes, "B"},
      {"factor", "compression_factor", "{:.1f}x"},
  };
  const Record record(run);
  std::vector<Json> summaries{Json::parse(record.summary_json())};
  std::vector<std::vector<std::string>> rows{{"talk"}, {"this run"}};
  for (const auto& [name, control] : control_records(run, record.config())) {
    summaries.push_back(Json::parse(control.summary_json()));
    rows.push_back({name});
  }
  append_columns(kShown, summaries, rows);
  return format_table(rows);
}

Comparison compare_runs(std::span<const std::string> directories) {
  Comparison comparison;
  std::vector<Json> summaries;
  std::vector<std::vector<std::string>> names;
  for (const std::string& directory : directories) {
    try {
      const Record record(directory);
      const train::Config& config = record.config();
      summaries.push_back(Json::parse(record.summary_json()));
      names.push_back({record.title(), config.text("algorithm"), config.text("graph"),
                       config.text("compressor")});
    } catch (const std::exception& error) {
      comparison.problems.emplace_back(error.what());
    }
  }
  comparison.runs = summaries.size();
  if (summaries.empty()) return comparison;
  std::vector<std::vector<std::string>> rows{{"run", "algorithm", "graph", "compressor"}};
  rows.insert(rows.end(), names.begin(), names.end());
  append_columns(kColumns, summaries, rows);
  comparison.table = format_table(rows);
  return comparison;
}

}  // namespace hearsay::report
