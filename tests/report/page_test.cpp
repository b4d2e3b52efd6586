#include "hearsay/report/page/page.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/error.h"
#include "hearsay/report/page/assets.h"
#include "hearsay/report/table.h"
#include "hearsay/run/compare.h"
#include "report/run_directories.h"
#include "report/well_formed.h"

namespace hearsay::report {
namespace {

namespace fs = std::filesystem;
using support::Scratch;

Page page_of(const std::vector<fs::path>& directories, const PageOptions& options = {}) {
  std::vector<std::string> names;
  for (const fs::path& directory : directories) names.push_back(directory.string());
  return make_page(names, options);
}

/// What the page's scripts read.
nlohmann::json data_of(const std::string& html) {
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(opening) + opening.size();
  return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

/// Without Chart.js, whose source contains its URL.
std::string own_part(std::string html) {
  html.erase(html.find(assets::kChartJs), assets::kChartJs.size());
  return html;
}

TEST(Page, SaysWhatWentWrongAndWhatToTry) {
  Scratch scratch;
  make_run(scratch / "fine");
  make_run(scratch / "chance", "ring",
           R"(, "warnings": [{"kind": "chance", "what": "<nothing> learnt", "try": "--lr 0.1"}, 3,)"
           R"( {"what": 4}, {"kind": "behind", "what": "peer 1 is behind"}])");
  make_run(scratch / "failed");
  fs::remove(scratch / "failed/summary.json");
  support::write_text(scratch / "failed/failure.json",
                      R"({"warnings": [{"kind": "failed", "what": "loss is nan", "try": "x"}]})");
  const std::string fine = page_of({scratch / "fine"}).html;
  EXPECT_EQ(fine.find("banner warnings"), std::string::npos);
  const std::string chance = page_of({scratch / "chance"}).html;
  EXPECT_TRUE(holds(chance,
                    "<p>&lt;nothing&gt; learnt.</p>\n<p class=\"note\">To try: --lr "
                    "0.1.</p>\n<p>peer 1 is behind.</p>\n</div>"));
  EXPECT_EQ(misfit_of(chance), "");
  EXPECT_TRUE(holds(page_of({scratch / "failed"}).html, "<p>loss is nan.</p>"));
  const std::string all = page_of({scratch / "fine", scratch / "chance", scratch / "failed"}).html;
  EXPECT_EQ(count(all, "class=\"box banner warnings\""), 2u);
}

/// Real runs with controls: everything that a page can hold.
TEST(Page, IsWellFormedAndNeedsNoNetwork) {
  Scratch scratch;
  run::Observer silent;
  run::run(support::config_of({{"model", "logistic"}, {"rounds", "40"}, {"compare", "yes"}}),
           scratch / "digits", silent);
  run::run_controls(scratch / "digits", 1, silent);
  run::run(support::config_of({{"data", "least-squares"}, {"rounds", "20"}, {"peers", "12"}}),
           scratch / "quadratics", silent);
  make_run(scratch / "made");
  const Page page = page_of({scratch / "digits", scratch / "quadratics", scratch / "made"});
  EXPECT_EQ(page.runs, 3u);
  EXPECT_TRUE(page.problems.empty());
  EXPECT_EQ(misfit_of(page.html), "");
  const std::string own = own_part(page.html);
  for (const char* outside : {"http:", "https:", " src=", "href=", "@import", "url(", "import(",
                              "XMLHttpRequest", "fetch(", "EventSource"}) {
    for (std::size_t at = own.find(outside); at != own.npos; at = own.find(outside, at + 1)) {
      const std::string found = own.substr(at, 60);
      EXPECT_TRUE(found.starts_with("http://www.w3.org/2000/svg")) << found;
    }
  }
  for (const char* id : {"chart-accuracy", "chart-distance", "chart-loss", "run-0-chart-controls",
                         "run-1-chart-distance", "run-2-graph", "run-2-classes"}) {
    EXPECT_EQ(count(page.html, fmt::format(" id=\"{}\"", id)), 1u) << id;
  }
}

TEST(Page, NamesItsScriptsByTheirHash) {
  Scratch scratch;
  make_run(scratch / "run");
  const std::string html = page_of({scratch / "run"}).html;
  EXPECT_EQ(count(html, "'sha256-"), 8u);
  EXPECT_EQ(count(html, "<script>"), 8u);
  EXPECT_FALSE(holds(html.substr(0, html.find("<style>")), "script-src 'unsafe-inline'"));
  EXPECT_FALSE(holds(html, "connect-src"));
}

TEST(Page, ShowsTheNumbersOfTheRun) {
  Scratch scratch;
  make_run(scratch / "run");
  write_page(scratch / "run");
  const std::string html = support::read_text(scratch / "run/report.html");
  EXPECT_EQ(misfit_of(html), "");
  for (const char* text : {">86.75</td>", ">81.50</td>", ">12.3 kB</td>", "<b>23</b>", "86.75 %",
                           "prefers-color-scheme", "Who talks to whom: ring"}) {
    EXPECT_TRUE(holds(html, text)) << text;
  }
  const auto data = data_of(html);
  EXPECT_EQ(data["records"][0]["round"], (std::vector<double>{0, 50}));
  EXPECT_EQ(data["records"][0]["bytes"], (std::vector<double>{0, 12345}));
  const auto& accuracy = data["charts"][0];
  EXPECT_EQ(accuracy["id"], "chart-accuracy");
  EXPECT_EQ(accuracy["series"][1]["name"], "peer 1");
  EXPECT_EQ(accuracy["series"][1]["y"], (std::vector<double>{12, 92}));
}

TEST(Page, EscapesWhatFilesSay) {
  Scratch scratch;
  const fs::path run = scratch / "<b>&run</script><script>alert(1)";
  make_run(run, "file:<script>alert('x')</script>",
           R"(, "class_names": ["<img src=x>", "</script>"])");
  write_page(run);
  const std::string html = support::read_text(run / "report.html");
  EXPECT_EQ(misfit_of(html), "");
  EXPECT_EQ(count(html, "<script"), 9u) << "data and eight scripts of its own";
  EXPECT_FALSE(holds(html, "<b>&run"));
  EXPECT_FALSE(holds(html, "<img"));
  EXPECT_TRUE(holds(html, "&lt;b&gt;&amp;run"));
  EXPECT_TRUE(holds(html, "cannot be drawn")) << "there is no such edge list";
  EXPECT_EQ(data_of(html)["records"][0]["name"], run.string());
}

TEST(Page, TakesFiguresOfAnyTypeWithoutComplaint) {
  Scratch scratch;
  make_run(scratch / "run");
  support::write_text(
      scratch / "run/metrics.jsonl",
      "{\"round\": 1, \"accuracy\": 5}\n"
      "{\"round\": 2, \"accuracy\": [null, 5, \"x\"], \"divergence\": {}}\n"
      "{\"divergence\": 1e308, \"round\": 3}\n{\"divergence\": -1e308, \"round\": 4}\n");
  support::write_text(scratch / "run/summary.json",
                      "{\"accuracy_mean\": [], \"class_counts\": [[1], \"two\"]}");
  const Page page = page_of({scratch / "run"});
  EXPECT_EQ(page.runs, 1u);
  EXPECT_TRUE(page.problems.empty());
  EXPECT_EQ(misfit_of(page.html), "");
  EXPECT_FALSE(data_of(page.html)["charts"].empty());
}

TEST(Page, OfARunThatHasNotFinishedSaysSo) {
  Scratch scratch;
  make_run(scratch / "run");
  fs::remove(scratch / "run/summary.json");
  const Page page = page_of({scratch / "run"});
  EXPECT_TRUE(holds(page.html, "has not finished"));
  EXPECT_TRUE(holds(page.html, ">86.75</td>")) << "its last evaluation";
  EXPECT_FALSE(holds(page.html, "EventSource"));
}

TEST(Page, ThatIsServedFollowsItsRunUntilItIsFinished) {
  Scratch scratch;
  make_run(scratch / "run");
  const Page finished = page_of({scratch / "run"});
  EXPECT_EQ(page_of({scratch / "run"}, {.live = true}).html, finished.html);
  fs::remove(scratch / "run/summary.json");
  const std::string html = page_of({scratch / "run"}, {.live = true}).html;
  EXPECT_EQ(misfit_of(html), "");
  EXPECT_TRUE(holds(html, "connect-src 'self'"));
  EXPECT_TRUE(holds(html, "new EventSource('/events' + location.search)"));
  EXPECT_EQ(count(html, " id=\"live\""), 1u);
  EXPECT_TRUE(data_of(html)["live"]);
}

TEST(Page, OfARunThatHasOnlyBegunIsThere) {
  Scratch scratch;
  make_run(scratch / "run");
  fs::remove(scratch / "run/summary.json");
  support::write_text(scratch / "run/metrics.jsonl", "");
  const Page page = page_of({scratch / "run"}, {.live = true});
  EXPECT_EQ(page.runs, 1u);
  EXPECT_EQ(misfit_of(page.html), "");
  EXPECT_TRUE(holds(page.html, "no evaluation yet"));
}

TEST(Page, NamesWhatItLeavesOutAndShowsTheOthers) {
  Scratch scratch;
  make_run(scratch / "whole");
  make_run(scratch / "damaged");
  make_run(scratch / "spotted");
  support::write_text(scratch / "damaged/summary.json", "{\"peers\": ");
  const std::string lines = support::read_text(scratch / "spotted/metrics.jsonl");
  support::write_text(scratch / "spotted/metrics.jsonl", "{\"round\": 0, \"accu\n" + lines);
  const Page page =
      page_of({scratch / "whole", scratch / "damaged", scratch / "nowhere", scratch / "spotted"});
  EXPECT_EQ(page.runs, 2u);
  const std::vector<std::string> problems{
      fmt::format("[report] {}/summary.json, line 1: it is no JSON object",
                  (scratch / "damaged").string()),
      fmt::format("[report] {} holds no run: there is no directory",
                  (scratch / "nowhere").string()),
      fmt::format("[report] {}/metrics.jsonl, line 1: it is no JSON object",
                  (scratch / "spotted").string())};
  EXPECT_EQ(page.problems, problems);
  for (const std::string& problem : problems) {
    EXPECT_TRUE(holds(page.html, "<li>" + problem + "</li>")) << problem;
  }
}

TEST(Page, OfNoRunIsNone) {
  Scratch scratch;
  EXPECT_EQ(page_of({scratch / "nowhere"}).html, "");
  EXPECT_THROW(write_page(scratch / "nowhere"), RunFailed);
}

TEST(Page, DropsALastLineThatWasCutOff) {
  Scratch scratch;
  make_run(scratch / "run");
  const std::string before = page_of({scratch / "run"}).html;
  const std::string whole = support::read_text(scratch / "run/metrics.jsonl");
  support::write_text(scratch / "run/metrics.jsonl", whole + "{\"round\": 75, \"accu");
  EXPECT_EQ(page_of({scratch / "run"}).html, before);
}

TEST(Page, AndTableShowTheSameRuns) {
  Scratch scratch;
  make_run(scratch / "whole");
  make_run(scratch / "begun");
  make_run(scratch / "damaged");
  fs::remove(scratch / "begun/summary.json");
  support::write_text(scratch / "damaged/summary.json", "{");
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
  EXPECT_TRUE(holds(page.html, "begun (not finished)</span></th>"));
}

TEST(Page, OffersOnlyAxesThatARunHas) {
  Scratch scratch;
  make_run(scratch / "run");
  const std::string plain = page_of({scratch / "run"}).html;
  EXPECT_TRUE(holds(plain, "name=\"axis\" value=\"bytes\""));
  EXPECT_FALSE(holds(plain, "name=\"axis\" value=\"simulated\""));
  support::write_text(
      scratch / "run/metrics.jsonl",
      "{\"round\": 0, \"simulated_seconds\": 0, \"bytes_total\": 0, \"loss\": 1}\n"
      "{\"round\": 9, \"simulated_seconds\": 2.5, \"bytes_total\": 0, \"loss\": 2}\n");
  const std::string linked = page_of({scratch / "run"}).html;
  EXPECT_FALSE(holds(linked, "name=\"axis\" value=\"bytes\"")) << "nothing was sent";
  EXPECT_TRUE(holds(linked, "name=\"axis\" value=\"simulated\""));
  EXPECT_EQ(data_of(linked)["records"][0]["simulated"], (std::vector<double>{0, 2.5}));
}

/// 200,000 evaluations of 8 peers with a spike up and one down.
TEST(Page, OfALongRunIsSmallAndKeepsItsExtremes) {
  Scratch scratch;
  make_run(scratch / "run");
  std::string lines;
  for (int k = 0; k < 200'000; ++k) {
    const double y = k == 123'457 ? 99.5 : k == 77'777 ? 0.5 : 50 + 0.001 * (k % 997);
    lines += fmt::format(
        R"({{"round":{0},"accuracy":[{1:.3f},{1:.3f}],"accuracy_mean":{1:.3f},"bytes_total":{2},"divergence":{3:.5f}}})"
        "\n",
        10 * k, y, 1000 * k, 1.0 / (1 + k));
  }
  support::write_text(scratch / "run/metrics.jsonl", lines);
  const std::string html = page_of({scratch / "run"}).html;
  EXPECT_LT(html.size(), 1'000'000u);
  const auto data = data_of(html);
  EXPECT_EQ(data["records"][0]["lines"], 200'000);
  const auto& peer = data["charts"][0]["series"][0];
  const auto rows = peer["rows"].get<std::vector<std::size_t>>();
  const auto y = peer["y"].get<std::vector<double>>();
  ASSERT_EQ(rows.size(), y.size());
  EXPECT_LE(y.size(), 5u * 300);
  const auto round = data["records"][0]["round"].get<std::vector<double>>();
  const auto at = [&](double value) {
    const auto found = std::ranges::find(y, value);
    return found == y.end() ? -1 : round[rows[static_cast<std::size_t>(found - y.begin())]];
  };
  EXPECT_EQ(at(99.5), 1'234'570);
  EXPECT_EQ(at(0.5), 777'770);
}

}  // namespace
}  // namespace hearsay::report
