#include "hearsay/report/page/page_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/text.h"
#include "hearsay/report/device_table.h"
#include "hearsay/report/evaluation_text.h"
#include "hearsay/report/page/graph_section.h"
#include "hearsay/report/page/html.h"
#include "hearsay/report/table.h"

namespace hearsay::report {

namespace {

constexpr std::size_t kMostMembers = 64;  ///< peers of a fleet in a table
constexpr std::size_t kMostEvents = 20;   ///< of one device
constexpr std::size_t kMostBeside = 8;    ///< peers whose classes stand beside the graph

/// A number with so many digits, or "-".
Cell digits(double value, const char* format) {
  if (!std::isfinite(value)) return {"-"};
  return {fmt::format(fmt::runtime(format), value), value};
}

/// A number in large type. During the run a script updates it (assets/page.js), using `format`.
struct Tile {
  std::string title, key, format;
  const engine::Metric* metric{};  ///< says how to print it
};

std::vector<Tile> all_tiles(const Record& record) {
  std::vector<Tile> tiles;
  for (const engine::Metric& metric : record.metrics()) {
    const engine::MetricKeys keys = engine::keys_of(metric);
    const bool percent = metric.unit == "%" && !metric.significant && metric.digits == 2;
    const std::string unit =
        metric.unit.empty() || percent ? "" : fmt::format(" ({})", metric.unit);
    const auto add = [&](const char* of, const std::string& key) {
      tiles.push_back({fmt::format("{}{}{}", metric.name, unit, of), key,
                       percent ? "percent" : "number", &metric});
    };
    add(metric.by_peer ? ", mean of the peers" : "", keys.mean);
    if (!metric.by_peer) continue;
    add(", worst peer", keys.worst(metric));
    add(", averaged model", keys.averaged);
  }
  tiles.push_back({"bytes sent", "bytes", "bytes"});
  tiles.push_back({"compression factor", "compression_factor", "number"});
  tiles.push_back({"consensus distance", "divergence", "number"});
  tiles.push_back({"rounds", "round", "whole"});
  return tiles;
}

std::string tile_text(const Tile& tile, double value) {
  if (tile.metric != nullptr) {
    return engine::format_value(*tile.metric, value) + (tile.format == "percent" ? " %" : "");
  }
  if (tile.format == "bytes") return human_bytes(value);
  if (tile.format == "whole") return fmt::format("{:.0f}", value);
  return tile.key == "compression_factor" ? fmt::format("{:.1f}x", value)
                                          : fmt::format("{:.3g}", value);
}

}  // namespace

std::string words_of(const train::RunOptions& config) {
  return fmt::format("{} with {} on {}, {} {}peers; {}{}{}{}", escape_markup(config.algorithm),
                     escape_markup(config.compressor), escape_markup(config.graph), config.peers,
                     config.timing == "asynchronous" ? "asynchronous " : "",
                     escape_markup(config.data),
                     config.model == "none" ? "" : ", " + escape_markup(config.model),
                     config.partition == "none" ? "" : ", " + escape_markup(config.partition),
                     escape_markup(liars_text(config)));
}

std::string tiles(const Record& record) {
  std::string html;
  for (const Tile& tile : all_tiles(record)) {
    std::optional<double> value = record.figure(tile.key);
    if (tile.key == "bytes") {
      value = record.figure("bytes_total");
      if (value) *value += record.figure("global_bytes_total").value_or(0);
    }
    if (tile.key == "round" && !value) value = record.figure("rounds");
    if (!value) continue;
    html += fmt::format("<div><dt>{}</dt><dd data-key=\"{}\" data-format=\"{}\">{}</dd></div>\n",
                        escape_markup(tile.title), tile.key, tile.format, tile_text(tile, *value));
  }
  return html.empty() ? "" : "<dl class=\"tiles\">\n" + html + "</dl>\n";
}

std::string peers_of_run(const Record& record, const std::string& prefix, std::size_t most_edges) {
  std::string html = fmt::format(
      "<div class=\"pair{}\">\n<figure id=\"{}graph\"><figcaption><h3>Who talks to whom: "
      "{}</h3></figcaption>\n{}"
      "</figure>\n",
      record.config().peers > kMostBeside ? " stacked" : "", prefix,
      escape_markup(record.config().graph), graph_section(record, most_edges));
  if (const auto counts = record.table("class_counts"); !counts.empty()) {
    html += fmt::format(
        "<figure id=\"{}classes\"><figcaption><h3>Training samples of each "
        "class</h3></figcaption>\n{}"
        "</figure>\n",
        prefix, draw_counts(counts, record.class_names()));
  }
  return html + "</div>\n";
}

std::string events_part(const FleetView& fleet, std::size_t most) {
  if (fleet.events.empty()) return "";
  const bool named = std::ranges::any_of(
      fleet.events, [](const FleetEvent& event) { return !event.device.empty(); });
  Cells rows{{{"time (UTC)"}}};
  if (named) rows[0].push_back({"device"});
  rows[0].push_back({"event"});
  for (std::size_t k = 0; k < std::min(fleet.events.size(), most); ++k) {
    const FleetEvent& event = fleet.events[k];
    rows.push_back({{time_text(event.time)}});
    if (named) rows.back().push_back({event.device});
    rows.back().push_back({event.event});
  }
  return "<div class=\"sheet events\">" + html_table(rows) + "</div>\n";
}

std::string fleet_part(const FleetView& fleet) {
  std::string html;
  if (!fleet.members.empty()) {
    Cells rows{{{"device"},
                {"status"},
                {"live"},
                {"heard of, s ago"},
                {"rounds"},
                {"rounds/s"},
                {"weight u"},
                {"loss"},
                {"score"},
                {"bytes sent"}}};
    for (std::size_t k = 0; k < std::min(fleet.members.size(), kMostMembers); ++k) {
      const FleetMember& member = fleet.members[k];
      rows.push_back({{member.name + (member.self ? " (this one)" : "")},
                      {member.status},
                      {member.live ? "yes" : "no"},
                      member.self ? Cell{"-"} : digits(member.heard, "{:.1f}"),
                      digits(member.rounds, "{:.0f}"),
                      digits(member.rate, "{:.3g}"),
                      digits(member.push_sum, "{:.3g}"),
                      digits(member.loss, "{:.4g}"),
                      digits(member.score, "{:.4g}"),
                      digits(member.bytes, "{:.0f}")});
      if (Cell& bytes = rows.back().back(); std::isfinite(bytes.value)) {
        bytes.text = human_bytes(bytes.value);
      }
    }
    html += "<div class=\"sheet members\">" + html_table(rows) + "</div>\n";
    std::string note;
    if (fleet.time) note = fmt::format("As this device knew it at {} UTC.", time_text(*fleet.time));
    if (fleet.members.size() > kMostMembers) {
      note += fmt::format(" The first {} of {} peers.", kMostMembers, fleet.members.size());
    }
    if (!note.empty()) html += "<p class=\"note\">" + note + "</p>\n";
  }
  return html + events_part(fleet, kMostEvents);
}

std::string devices_part(const ShownRun& run) {
  if (run.devices.empty()) return "";
  std::string notes;
  for (const std::string& note : run.notes) {
    notes += fmt::format("<p class=\"box banner\">{}</p>\n", escape_markup(note));
  }
  return notes + "<div class=\"sheet range\">" + html_table(range_cells(run)) + "</div>\n" +
         "<div class=\"sheet devices\">" + html_table(device_cells(run), true) + "</div>\n";
}

std::string settings(const Record& record) {
  return fmt::format("<details><summary>Settings</summary><pre>{}</pre></details>\n",
                     escape_markup(record.config().to_toml()));
}

std::string chooser(const Runs& runs, bool live) {
  const auto any = [&](const auto& has) { return std::ranges::any_of(runs.runs, has); };
  const bool bytes = any([&](const ShownRun& run) {
    const auto all = run.record.bytes();
    return !all.empty() && (live || all.back() > 0);
  });
  const bool simulated = any([](const ShownRun& run) {
    return !run.record.columns().figure("simulated_seconds").empty();
  });
  std::string choices;
  const auto add = [&](const char* value, const char* word, const char* more) {
    choices += fmt::format(
        "<label><input type=\"radio\" name=\"axis\" value=\"{}\"{}/><span>{}</span></label>", value,
        more, word);
  };
  add("round", "rounds", " checked=\"\"");
  if (bytes) add("bytes", "bytes", "");
  if (simulated) add("simulated", "simulated seconds", "");
  return fmt::format(
      "<div class=\"chooser\"><fieldset><legend>Curves against</legend><span "
      "class=\"segments\">{}</span></fieldset><span class=\"note hint\" "
      "role=\"status\"></span></div>\n",
      choices);
}

std::string warnings_box(const Record& record) {
  std::string html;
  for (const run::Warning& warning : record.warnings()) {
    html += fmt::format("<p>{}.</p>\n", escape_markup(warning.what));
    if (!warning.advice.empty()) {
      html += fmt::format("<p class=\"note\">To try: {}.</p>\n", escape_markup(warning.advice));
    }
  }
  return html.empty() ? ""
                      : "<div class=\"box banner warnings\" role=\"note\">\n" + html + "</div>\n";
}

std::string problems_box(const std::vector<std::string>& problems) {
  if (problems.empty()) return "";
  constexpr std::size_t kMost = 50;
  std::string html = "<div class=\"box\" id=\"problems\"><p>Left out:</p><ul>\n";
  for (std::size_t k = 0; k < std::min(problems.size(), kMost); ++k) {
    html += fmt::format("<li>{}</li>\n", escape_markup(problems[k]));
  }
  if (problems.size() > kMost)
    html += fmt::format("<li>and {} more</li>\n", problems.size() - kMost);
  return html + "</ul></div>\n";
}

std::string summary_table(const Runs& runs, bool sortable) {
  std::vector<NamedSummary> summaries;
  std::vector<const train::RunOptions*> configs;
  for (const SeedGroup& group : runs.groups) {
    const ShownRun& run = shown_of(runs, group);
    const bool named = group.mean || run.label == run.record.name();
    const std::string seed = named ? "" : fmt::format(", seed {}", run.record.config().seed);
    const std::string state = run.record.finished() ? "" : " (not finished)";
    summaries.push_back({run.label + seed + state, run.record.summary_json()});
    configs.push_back(&run.record.config());
    for (const auto& [control, record] : run.controls) {
      summaries.push_back({run.label + ", " + control, record.summary_json()});
      configs.push_back(&record.config());
    }
  }
  Cells cells = summary_cells(summaries);
  if (sortable) {
    for (const char* name : {"compressor", "graph", "algorithm"}) cells[0].push_back({name});
    for (std::size_t i = 0; i < configs.size(); ++i) {
      const train::RunOptions& config = *configs[i];
      for (const std::string& spec : {config.compressor, config.graph, config.algorithm}) {
        cells[i + 1].push_back({spec});
      }
    }
  }
  return "<div class=\"sheet\">" + html_table(cells, sortable) + "</div>\n";
}

}  // namespace hearsay::report
