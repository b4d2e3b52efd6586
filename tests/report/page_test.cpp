#include "hearsay/report/page.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/report/drawing.h"
#include "hearsay/report/table.h"
#include "hearsay/train/compare.h"
#include "report/well_formed.h"
#include "train/scratch.h"

namespace hearsay::report {
namespace {

namespace fs = std::filesystem;
using train::Scratch;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

/// A run directory made by hand: two peers, two evaluations.
void make_run(const fs::path& directory, const std::string& graph = "ring",
              const std::string& more = "") {
  fs::create_directories(directory);
  train::Config config;
  config.set("graph", graph);
  config.set("peers", "2");
  train::write_text(directory / "config.toml", config.to_toml());
  train::write_text(
      directory / "metrics.jsonl",
      R"({"round": 0, "accuracy": [10, 12], "accuracy_mean": 11, "bytes_total": 0, "divergence": 0})"
      "\n"
      R"({"round": 50, "accuracy": [81.5, 92], "accuracy_mean": 86.75, "bytes_total": 12345,)"
      R"( "divergence": 0.25})"
      "\n");
  train::write_text(directory / "summary.json",
                    R"({"accuracy_mean": 86.75, "accuracy_min": 81.5, "bytes_total": 12345,)"
                    R"( "class_counts": [[7, 0], [1, 23]])" +
                        more + "}");
}

TEST(Escape, LeavesNothingThatHtmlReads) {
  EXPECT_EQ(escape("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
}

/// Real runs with controls: everything that a page can hold.
TEST(Page, IsWellFormedAndNeedsNoNetwork) {
  Scratch scratch;
  train::Observer silent;
  train::run(train::config_of({{"model", "logistic"}, {"rounds", "40"}, {"compare", "yes"}}),
             scratch / "digits", silent);
  train::run_controls(scratch / "digits", 1, silent);
  train::run(train::config_of({{"data", "least-squares"}, {"rounds", "20"}, {"peers", "12"}}),
             scratch / "quadratics", silent);
  make_run(scratch / "made");
  const Page page = make_page(std::vector<std::string>{(scratch / "digits").string(),
                                                       (scratch / "quadratics").string(),
                                                       (scratch / "made").string()});
  EXPECT_EQ(page.runs, 3u);
  EXPECT_TRUE(page.problems.empty());
  EXPECT_EQ(misfit_of(page.html), "");
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url(", "<script"}) {
    EXPECT_FALSE(holds(page.html, outside)) << outside;
  }
  EXPECT_TRUE(holds(page.html, "beside silence and full communication"));
  EXPECT_TRUE(holds(page.html, (scratch / "digits").string() + ", silence"));
  EXPECT_TRUE(holds(page.html, "Distance to the optimum"));
}

TEST(Page, ShowsTheNumbersOfTheRun) {
  Scratch scratch;
  make_run(scratch / "run");
  write_page(scratch / "run");
  const std::string html = train::read_text(scratch / "run/report.html");
  EXPECT_EQ(misfit_of(html), "");
  for (const char* text : {"<td>86.75</td>", "<td>81.50</td>", "<td>12.3 kB</td>", "<b>23</b>",
                           "<title>peer 1</title>", "prefers-color-scheme", "ring"}) {
    EXPECT_TRUE(holds(html, text)) << text;
  }
  // Accuracy runs from 10 to 92 over rounds 0 to 50: peer 1 begins a little above the lower left
  // corner and ends in the upper right one.
  EXPECT_TRUE(holds(html, R"(points="64.0,230.5 628.0,12.0 "><title>peer 1</title>)")) << html;
}

TEST(Page, EscapesWhatFilesSay) {
  Scratch scratch;
  make_run(scratch / "<b>&run", "file:<script>alert('x')</script>");
  write_page(scratch / "<b>&run");
  const std::string html = train::read_text(scratch / "<b>&run/report.html");
  EXPECT_EQ(misfit_of(html), "");
  EXPECT_FALSE(holds(html, "<script"));
  EXPECT_FALSE(holds(html, "<b>&run"));
  EXPECT_TRUE(holds(html, "&lt;b&gt;&amp;run"));
  EXPECT_TRUE(holds(html, "cannot be drawn")) << "there is no such edge list";
}

TEST(Page, TakesFiguresOfAnyTypeWithoutComplaint) {
  Scratch scratch;
  make_run(scratch / "run");
  train::write_text(
      scratch / "run/metrics.jsonl",
      "{\"round\": \"one\", \"accuracy\": 5}\n"
      "{\"round\": 2, \"accuracy\": [null, 5, \"x\"], \"divergence\": {}}\n"
      "{\"divergence\": 1e308, \"round\": 3}\n{\"divergence\": -1e308, \"round\": 4}\n");
  train::write_text(scratch / "run/summary.json",
                    "{\"accuracy_mean\": [], \"class_counts\": [[1], \"two\"]}");
  const Page page = make_page(std::vector<std::string>{(scratch / "run").string()});
  EXPECT_EQ(page.runs, 1u);
  EXPECT_EQ(misfit_of(page.html), "");
  EXPECT_FALSE(holds(page.html, "nan"));
  EXPECT_FALSE(holds(page.html, "inf,"));
}

TEST(Page, OfARunThatHasNotFinishedSaysSo) {
  Scratch scratch;
  make_run(scratch / "run");
  fs::remove(scratch / "run/summary.json");
  const Page page = make_page(std::vector<std::string>{(scratch / "run").string()});
  EXPECT_TRUE(holds(page.html, "has not finished"));
  EXPECT_TRUE(holds(page.html, "<td>86.75</td>")) << "its last evaluation";
}

TEST(Page, NamesWhatItLeavesOut) {
  Scratch scratch;
  make_run(scratch / "run");
  train::write_text(scratch / "run/summary.json", "{\"peers\": ");
  const std::vector<std::string> both{(scratch / "run").string(), (scratch / "nowhere").string()};
  const Page page = make_page(both);
  EXPECT_EQ(page.runs, 0u);
  EXPECT_EQ(page.html, "");
  EXPECT_EQ(page.problems,
            (std::vector<std::string>{
                fmt::format("[report] {}/summary.json is damaged: it is no JSON", both[0]),
                fmt::format("[report] {} holds no run: config.toml or metrics.jsonl is missing",
                            both[1])}));
  EXPECT_THROW(write_page(both[1]), RunFailed);
}

TEST(DrawGraph, HasAnArrowForOneWayAndALineForBoth) {
  using graph::Edge;
  const std::string one = draw_graph(2, std::vector<Edge>{{0, 1, 0.5}});
  EXPECT_EQ(count(one, "<circle"), 2u);
  EXPECT_EQ(count(one, "<line"), 1u);
  EXPECT_EQ(count(one, "<polygon"), 1u);
  const std::string both = draw_graph(2, std::vector<Edge>{{0, 1, 0.5}, {1, 0, 0.5}});
  EXPECT_EQ(count(both, "<line"), 1u);
  EXPECT_EQ(count(both, "<polygon"), 0u);
}

TEST(DrawCurves, ThinsOutWhatNobodyCouldSee) {
  Series long_one{"long", {}, {}};
  for (int k = 0; k < 10'000; ++k) {
    long_one.x.push_back(k);
    long_one.y.push_back(k % 7);
  }
  const std::string svg = draw_curves({"long", "", false}, std::vector{long_one});
  EXPECT_LT(svg.size(), 10'000u);
  EXPECT_TRUE(holds(svg, "628.0,")) << "the last point is always there";
  EXPECT_EQ(draw_curves({"none", "", false}, std::vector{Series{}}), "");
}

Series line(const std::string& name, double height) { return {name, {0, 1}, {0, height}}; }

TEST(DrawCurves, OfNothingButZerosAreNotDrawn) {
  EXPECT_EQ(draw_curves({"bytes", "B", false}, std::vector{line("bytes", 0)}), "");
}

TEST(DrawCurves, HaveAColourEachOrAreACrowd) {
  std::vector<Series> peers;
  for (int k = 0; k < 7; ++k) peers.push_back(line(fmt::format("peer {}", k), k + 1));
  peers.push_back(line("average", 9));
  const Chart chart{"peers", "%", true, "each peer"};
  const std::string seven = draw_curves(chart, peers);
  for (int k = 0; k < 8; ++k) {
    EXPECT_EQ(count(seven, fmt::format("<span class=\"c{}", k)), 1u) << k;
  }
  EXPECT_FALSE(holds(seven, "each peer"));
  peers.insert(peers.begin(), line("one more", 3));
  const std::string eight = draw_curves(chart, peers);
  EXPECT_EQ(count(eight, "<polyline class=\"c1 thin\""), 8u);
  EXPECT_EQ(count(eight, ">each peer</span>"), 1u);
  EXPECT_EQ(count(eight, ">average</span>"), 1u);
}

TEST(DrawCurves, OfManyRunsKeepTheirNamesAndCanBeToldApart) {
  std::vector<Series> runs;
  for (int k = 0; k < 20; ++k) runs.push_back(line(fmt::format("run {}.", k), k + 1));
  const std::string svg = draw_curves({"runs", "%", false}, runs);
  for (int k = 0; k < 20; ++k) EXPECT_TRUE(holds(svg, fmt::format(">run {}.</span>", k)));
  for (const char* kind : {"\"c1\"", "\"c1 dash1\"", "\"c1 dash2\""}) {
    EXPECT_EQ(count(svg, fmt::format("<polyline class={}", kind)), 1u) << kind;
  }
}

TEST(Page, DropsALastLineThatWasCutOff) {
  Scratch scratch;
  make_run(scratch / "run");
  const std::string whole = train::read_text(scratch / "run/metrics.jsonl");
  const std::vector<std::string> run{(scratch / "run").string()};
  const std::string before = make_page(run).html;
  train::write_text(scratch / "run/metrics.jsonl", whole + "{\"round\": 75, \"accu");
  EXPECT_EQ(make_page(run).html, before);
  train::write_text(scratch / "run/metrics.jsonl", "{\"round\": 75, \"accu\n" + whole);
  EXPECT_EQ(make_page(run).runs, 0u) << "any other line is damaged";
}

TEST(Page, ShowsValidationAndGlobalBytes) {
  Scratch scratch;
  make_run(scratch / "run", "ring", R"(, "validation_accuracy_mean": 77.25)");
  train::write_text(scratch / "run/metrics.jsonl",
                    "{\"round\": 0, \"validation_accuracy_mean\": 5, \"bytes_total\": 0,"
                    " \"global_bytes_total\": 0}\n"
                    "{\"round\": 9, \"validation_accuracy_mean\": 77.25, \"bytes_total\": 0,"
                    " \"global_bytes_total\": 4000}\n");
  const std::string html = make_page(std::vector<std::string>{(scratch / "run").string()}).html;
  EXPECT_TRUE(holds(html, "<td>77.25</td>"));
  EXPECT_TRUE(holds(html, "held out for validation"));
  EXPECT_TRUE(holds(html, "Bytes sent"));
  EXPECT_TRUE(holds(html, ">4 kB</text>"));
}

TEST(Page, AndTableShowTheSameRuns) {
  Scratch scratch;
  make_run(scratch / "whole");
  make_run(scratch / "begun");
  make_run(scratch / "damaged");
  fs::remove(scratch / "begun/summary.json");
  train::write_text(scratch / "damaged/summary.json", "{");
  std::vector<std::string> all;
  for (const char* name : {"whole", "begun", "damaged", "nowhere"}) {
    all.push_back((scratch / name).string());
  }
  const Page page = make_page(all);
  const Comparison comparison = compare_runs(all);
  EXPECT_EQ(page.runs, 2u);
  EXPECT_EQ(comparison.runs, 2u);
  EXPECT_EQ(page.problems, comparison.problems);
  EXPECT_TRUE(holds(comparison.table, "begun (not finished)"));
  EXPECT_TRUE(holds(page.html, "begun (not finished)</td>"));
}

TEST(Page, LeavesOutControlsOfOtherSettings) {
  Scratch scratch;
  train::Observer silent;
  const train::Config config =
      train::config_of({{"data", "least-squares"}, {"rounds", "5"}, {"compare", "yes"}});
  train::run(config, scratch / "run", silent);
  train::run_controls(scratch / "run", 1, silent);
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto& control : control_records(scratch / "run", config)) {
      all.push_back(control.first);
    }
    return all;
  };
  EXPECT_EQ(names(), (std::vector<std::string>{"silence", "full"}));
  std::string text = train::read_text(scratch / "run/compare/full/config.toml");
  text.replace(text.find("seed = 1"), 8, "seed = 2");
  train::write_text(scratch / "run/compare/full/config.toml", text);
  EXPECT_EQ(names(), std::vector<std::string>{"silence"});
}

}  // namespace
}  // namespace hearsay::report
