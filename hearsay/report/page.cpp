#include "hearsay/report/page.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/version.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/report/drawing.h"
#include "hearsay/report/record.h"
#include "hearsay/report/table.h"
#include "hearsay/train/durable_file.h"

namespace hearsay::report {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --faint: #8884; --soft: #666;
  --c0: #1c1e21; --c1: #0072b2; --c2: #c04f00; --c3: #00805d; --c4: #b0558a; --c5: #8f6a00;
  --c6: #5b6770; --c7: #7a4fd0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e9; --paper: #16181b; --soft: #9a9a9a;
  --c0: #fff; --c1: #4aa8e0; --c2: #ff8a3d; --c3: #2fc79a; --c4: #e59cc5; --c5: #e0b040;
  --c6: #b4c0ca; --c7: #b79bff; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .25rem .7rem; text-align: right; white-space: nowrap; font-weight: normal; }
th { color: var(--soft); } td:first-child, th:first-child { text-align: left; }
tr + tr > * { border-top: 1px solid var(--faint); }
figure { margin: 1.5rem 0 0; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; overflow: visible; } svg.graph { max-width: 22rem; display: block; }
svg text { font-size: 12px; fill: var(--soft); } .grid { stroke: var(--faint); }
polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.strong { stroke-width: 3; font-weight: 600; } .thin { stroke-width: 1; opacity: .6; }
.legend { font-size: .85rem; display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
.edge { stroke: var(--soft); stroke-width: 1.3; } .head { fill: var(--soft); }
.peer { fill: var(--c1); } svg.graph text { fill: var(--paper); }
.dash1 { stroke-dasharray: 6 3; } .dash2 { stroke-dasharray: 2 3; }
span.dash1 { border-bottom: 2px dashed; } span.dash2 { border-bottom: 2px dotted; }
@media (max-width: 40rem) { svg:not(.graph) text { font-size: 20px; } }
.counts td { position: relative; } .counts i { position: absolute; inset: 1px; background: var(--c1); }
.counts b { position: relative; font-weight: normal; }
details pre { overflow-x: auto; font-size: .85rem; } .note { color: var(--soft); }
)";

std::string colour_rules() {
  std::string css;
  for (int i = 0; i < 8; ++i) {
    css += fmt::format(".c{0} {{ stroke: var(--c{0}); }} span.c{0} {{ color: var(--c{0}); }}\n", i);
  }
  return css;
}

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"wide\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    html += "<tr>";
    for (const std::string& cell : rows[r]) {
      html += fmt::format("<{0}>{1}</{0}>", r == 0 ? "th" : "td", escape(cell));
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

Series named(Series series, std::string name) {
  series.name = std::move(name);
  return series;
}

/// Edges of all matrices of one period, or why there are none.
std::string graph_section(const train::Config& config) {
  constexpr std::size_t kMostEdges = 4000;
  try {
    const auto schedule =
        graph::make_schedule(config.text("graph"), {config.count("peers"), config.count("seed")});
    std::vector<graph::Edge> edges;
    const auto period = schedule->period();
    for (const graph::Weights& weights : period) {
      edges.insert(edges.end(), weights.edges().begin(), weights.edges().end());
      if (edges.size() > kMostEdges) return "<p class=\"note\">too many edges to draw</p>\n";
    }
    const std::string all = period.size() > 1
                                ? fmt::format(
                                      "<p class=\"note\">{} graphs in turn, drawn on top of each "
                                      "other</p>\n",
                                      period.size())
                                : "";
    return draw_graph(schedule->peers(), edges) + all;
  } catch (const std::exception& error) {
    return fmt::format("<p class=\"note\">cannot be drawn: {}</p>\n", escape(error.what()));
  }
}

/// A run with its controls, as the page shows it.
struct Shown {
  Record record;
  std::vector<std::pair<std::string, Record>> controls;
};

std::string controls_chart(const Shown& run) {
  std::vector<Series> curves;
  for (const auto& [name, record] : run.controls) {
    curves.push_back(named(record.series("accuracy_mean"), name));
  }
  if (curves.empty()) return "";
  curves.push_back(named(run.record.series("accuracy_mean"), "this run"));
  return draw_curves(
      {"Test accuracy, mean of the peers, beside silence and full communication", "%", true},
      curves);
}

/// Without the points of round 0, before which there were no minibatches.
Series since_first_round(Series series) {
  while (!series.x.empty() && series.x.front() == 0) {
    series.x.erase(series.x.begin());
    series.y.erase(series.y.begin());
  }
  return series;
}

std::string run_section(const Shown& run) {
  const Record& record = run.record;
  const train::Config& config = record.config();
  std::string html = fmt::format(
      "<h2>{}</h2>\n<p>{} with {} on {}, {} peers; {}{}{}</p>\n", escape(record.name()),
      escape(config.text("algorithm")), escape(config.text("compressor")),
      escape(config.text("graph")), config.count("peers"), escape(config.text("data")),
      config.text("model") == "none" ? "" : ", " + escape(config.text("model")),
      config.text("partition") == "none" ? "" : ", " + escape(config.text("partition")));
  if (!record.finished()) html += "<p class=\"note\">This run has not finished.</p>\n";

  std::vector<Series> accuracy = record.series_of_peers("accuracy");
  if (!accuracy.empty()) {
    accuracy.push_back(named(record.series("accuracy_of_average"), "averaged model"));
    html +=
        draw_curves({"Test accuracy of each peer's own model", "%", true, "each peer"}, accuracy);
  }
  html += draw_curves(
      {"Accuracy on the samples held out for validation", "%", true},
      std::vector{named(record.series("validation_accuracy_mean"), "mean of the peers"),
                  named(record.series("validation_accuracy_of_average"), "averaged model")});
  html += controls_chart(run);
  html += draw_curves({"Distance to the optimum, mean of the peers", "", false},
                      std::vector{named(record.series("distance_to_optimum"), "distance")});
  html += draw_curves(
      {"Loss", "", true},
      std::vector{named(since_first_round(record.series("train_loss")), "on minibatches"),
                  named(record.series("loss"), "on the whole problem")});
  html += draw_curves({"Bytes sent, all edges", "B", false},
                      std::vector{named(record.bytes(), "bytes")});
  html += draw_curves({"Divergence: mean distance of a peer's model from the average", "", false},
                      std::vector{named(record.series("divergence"), "divergence")});
  html += fmt::format("<figure><figcaption>Who talks to whom: {}</figcaption>\n",
                      escape(config.text("graph"))) +
          graph_section(config) + "</figure>\n";
  if (const auto counts = record.class_counts(); !counts.empty()) {
    html += "<figure><figcaption>Training samples of each class</figcaption>\n" +
            draw_counts(counts) + "</figure>\n";
  }
  return html + fmt::format("<details><summary>Settings</summary><pre>{}</pre></details>\n",
                            escape(config.to_toml()));
}

}  // namespace

Page make_page(std::span<const std::string> directories) {
  Page page;
  std::vector<Shown> runs;
  for (const std::string& directory : directories) {
    try {
      Record record(directory);
      auto controls = control_records(directory, record.config());
      runs.push_back({std::move(record), std::move(controls)});
    } catch (const std::exception& error) {
      page.problems.emplace_back(error.what());
    }
  }
  page.runs = runs.size();
  if (runs.empty()) return page;

  std::vector<NamedSummary> summaries;
  std::vector<Series> curves;
  std::string sections;
  for (const Shown& run : runs) {
    summaries.push_back({run.record.title(), run.record.summary_json()});
    for (const auto& [name, control] : run.controls) {
      summaries.push_back({run.record.name() + ", " + name, control.summary_json()});
    }
    curves.push_back(named(run.record.series("accuracy_mean"), run.record.name()));
    sections += run_section(run);
  }
  page.html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>hearsay: {}</title>\n<style>{}{}</style>\n</head>\n<body>\n<h1>hearsay</h1>\n",
      escape(runs.front().record.name()), kStyle, colour_rules());
  page.html += html_table(summary_rows(summaries));
  if (runs.size() > 1) {
    page.html += draw_curves({"Test accuracy, mean of the peers", "%", false}, curves);
  }
  page.html += sections + fmt::format("<p class=\"note\">hearsay {}</p>\n</body>\n</html>\n",
                                      escape(version()));
  return page;
}

void write_page(const fs::path& run) {
  const Page page = make_page(std::vector<std::string>{run.string()});
  if (page.runs == 0) throw RunFailed(page.problems.front());
  train::DurableFile file(run / "report.html");
  file.write(page.html);
  file.commit();
}

}  // namespace hearsay::report
