/// An objective with metrics that hearsay does not know, one of them better when smaller: from its
/// scores through the terminal, the files of a run, tables, pages and sweeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hearsay/engine/objective.h"
#include "hearsay/report/evaluation_text.h"
#include "hearsay/report/page/charts.h"
#include "hearsay/report/page/page.h"
#include "hearsay/report/page/scatter.h"
#include "hearsay/report/table.h"
#include "hearsay/train/metric_list.h"
#include "hearsay/train/peer_report.h"
#include "report/run_directories.h"
#include "report/well_formed.h"

namespace hearsay::report {
namespace {

using engine::Metric;
using Json = nlohmann::ordered_json;

constexpr Metric kRows[] = {{.key = "rmse",
                             .name = "RMSE",
                             .label = "RMSE",
                             .axis_unit = "target units",
                             .better = Metric::Better::kSmaller,
                             .digits = 4,
                             .significant = true,
                             .meaning = "root of the mean squared error"},
                            {.key = "r2",
                             .name = "R2",
                             .label = "R2",
                             .digits = 3,
                             .full = 1,
                             .meaning = "1 - squared error over variance"}};

/// A model is its two scores; on the validation samples it scores slightly worse.
class MadeUp final : public engine::Objective {
 public:
  const Layout& layout() const override { return layout_; }
  std::uint64_t rounds_per_epoch() const override { return 1; }
  std::size_t batch() const override { return 1; }
  void initial_model(std::uint32_t, std::span<float> x) const override {
    std::ranges::fill(x, 0.0f);
  }
  void gradients(std::uint32_t, backend::ConstBlock, backend::Block, std::span<double>) override {}
  std::span<const Metric> metrics() const override { return kRows; }
  engine::Score evaluate(std::span<const float> model, std::span<const float>) const override {
    const double rmse = static_cast<double>(model[0]), r2 = static_cast<double>(model[1]);
    return {rmse * rmse, {rmse, r2}, rmse * rmse + 1, {rmse + 0.5, r2 - 0.25}};
  }
  std::vector<engine::Score> scores(backend::ConstBlock at) override {
    std::vector<engine::Score> all;
    for (std::size_t i = 0; i < at.rows; ++i) all.push_back(evaluate(at.row(i), {}));
    return all;
  }

 private:
  Layout layout_{2};
};

/// Peer i's model after a round: {RMSE, R2}. Peer 1 is the worst in both.
train::Metrics evaluation(std::uint64_t round, float rmse, std::size_t peers = 2) {
  MadeUp objective;
  std::vector<float> models;
  for (std::size_t i = 0; i < peers; ++i) {
    const float worse = i == 1 ? 1.0f : 0.03125f * static_cast<float>(i);
    models.insert(models.end(), {rmse + worse, 0.75f - 0.25f * worse});
  }
  std::vector<train::PeerReport> reports;
  for (const engine::Score& score : objective.scores({models.data(), peers, 2})) {
    reports.push_back({.score = score,
                       .divergence = 0.5,
                       .totals = {.traffic = {.edge_rounds = round, .bytes = 100 * round}}});
  }
  const std::vector<float> average{rmse, 0.875f};
  return train::assemble(reports, objective.metrics(), objective.evaluate(average, {}),
                         {.round = round, .totals = {.dim = 2}});
}

class OwnMetrics : public ::testing::Test {
 protected:
  /// A run that ends with that RMSE, and its summary if it has finished.
  void make(const std::string& name, float rmse, double factor, bool finished = true,
            std::size_t peers = 2) {
    const std::filesystem::path run = scratch_ / name;
    std::filesystem::create_directories(run);
    train::RunOptions config;
    config.peers = peers;
    support::write_text(run / "config.toml", config.to_toml());
    const train::Metrics last = evaluation(10, rmse, peers);
    support::write_text(run / "metrics.jsonl", to_json_line(evaluation(0, 4, peers), true) + "\n" +
                                                   to_json_line(last) + "\n");
    names_.push_back(run.string());
    if (!finished) return;
    Json summary = Json::parse(to_json_line(last));
    summary["peers"] = peers;
    summary["dim"] = 2;
    summary["compression_factor"] = factor;
    summary["metrics"] = Json::parse(train::describe(MadeUp().metrics()));
    support::write_text(run / "summary.json", summary.dump());
  }

  support::Scratch scratch_;
  std::vector<std::string> names_;
};

bool names_accuracy(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return holds(text, "accuracy");
}

TEST_F(OwnMetrics, AreOnTheTerminalTheFirstInFullAndLongest) {
  const train::Metrics m = evaluation(10, 1.5);
  EXPECT_EQ(evaluation_text(m, 1000, std::numeric_limits<int>::max()),
            "loss 4.25      RMSE 2         (1.5 .. 2.5) validation RMSE 2.5       R2  0.625 "
            "(0.500 .. 0.750) validation R2  0.375 consensus distance 0.5            1 kB");
  EXPECT_EQ(evaluation_text(m, 1000, 40), "loss 4.25      RMSE 2              1 kB");
  EXPECT_EQ(peer_value_text(kRows[0], 1.23456), "1.235    ");
  EXPECT_EQ(peer_value_text(kRows[1], 0.5), "  0.500");
  EXPECT_EQ(peer_value_text(engine::kAccuracy, 82.25), " 82.25 %");
}

TEST_F(OwnMetrics, AreColumnsWithTheirWorstPeer) {
  make("run", 1.5, 60);
  const std::string table = run_table(Record(scratch_ / "run").summary_json());
  EXPECT_TRUE(table.starts_with(
      "peers  RMSE  worst peer  averaged model  validation RMSE     R2  worst R2  "
      "R2, averaged model  validation R2  loss  bytes sent  "))
      << table;
  EXPECT_TRUE(holds(table,
                    "\n2         2         2.5             1.5              2.5  0.625     0.500  "
                    "             0.875          0.375  4.25        2 kB  "))
      << table;
}

TEST_F(OwnMetrics, MakeAPageThatSaysNothingOfOthers) {
  make("run", 1.5, 60);
  const Page page = make_page(names_);
  EXPECT_EQ(page.problems, std::vector<std::string>{});
  EXPECT_EQ(misfit_of(page.html), "");
  EXPECT_FALSE(names_accuracy(page.html));
  for (const char* part :
       {"id=\"chart-rmse\"", "id=\"chart-rmse-bytes\"", "id=\"chart-validation\"",
        "id=\"chart-r2\"", "id=\"chart-validation-r2\"", "Test RMSE of each peer",
        "Test RMSE (target units)", "y\":\"Test R2\"",
        "<dt>RMSE, worst peer</dt><dd data-key=\"rmse_max\" data-format=\"number\">2.5</dd>",
        "<dt>R2, worst peer</dt><dd data-key=\"r2_min\" data-format=\"number\">0.500</dd>"}) {
    EXPECT_TRUE(holds(page.html, part)) << part;
  }
}

/// The first line of metrics.jsonl says which metrics there are.
TEST_F(OwnMetrics, AreKnownWhileTheRunGoesOn) {
  make("run", 1.5, 60, false);
  const Page page = make_page(names_, {.live = true});
  EXPECT_FALSE(names_accuracy(page.html));
  EXPECT_TRUE(holds(page.html, "id=\"chart-rmse\""));
  EXPECT_TRUE(holds(page.html, "data-key=\"rmse_max\""));
  const Comparison comparison = compare_runs(names_);
  EXPECT_TRUE(holds(comparison.table, "RMSE"));
  EXPECT_FALSE(names_accuracy(comparison.table));
}

TEST_F(OwnMetrics, NameTheBestAndTheWorstOfManyPeers) {
  make("run", 1.5, 60, true, 12);
  const Runs runs = read_runs(names_);
  const auto charts = charts_of_run(runs.runs[0], 0, false);
  for (const char* id : {"rmse", "r2"}) {
    const auto chart = std::ranges::find(charts, id, &Chart::id);
    ASSERT_NE(chart, charts.end()) << id;
    EXPECT_EQ(chart->curves[2].name, "peer 0, best at the end") << id;
    EXPECT_EQ(chart->curves[3].name, "peer 1, worst at the end") << id;
  }
}

TEST_F(OwnMetrics, OfSeveralRunsHaveAFrontOfTheLeast) {
  make("plain", 1, 1);
  make("good", 2, 60);
  make("bad", 3, 50);
  const Scatter scatter = make_scatter(read_runs(names_));
  EXPECT_EQ(scatter.y, "Mean test RMSE (target units)");
  EXPECT_TRUE(scatter.less_is_better);
  EXPECT_FALSE(scatter.log);
  ASSERT_EQ(scatter.fronts.size(), 1u);
  EXPECT_EQ(scatter.fronts[0].points, (std::vector<std::size_t>{0, 1}));
  const Page page = make_page(names_);
  EXPECT_FALSE(names_accuracy(page.html));
  EXPECT_TRUE(holds(page.html, "Test RMSE, mean of the peers"));
}

TEST_F(OwnMetrics, AreFiguresOfASweep) {
  make("a-s1", 1, 60);
  make("b-s1", 2, 1);
  support::write_text(
      scratch_ / "t.sweep.json",
      R"({"v": 1, "title": "t", "source": "", "note": "", "quick": false, "banner": "",
          "differences": [],
          "figures": [{"name": "RMSE", "key": "rmse_mean", "at": "end", "unit": "", "digits": 2, "scale": 1},
                      {"name": "R2", "key": "r2_min", "at": "end", "unit": "", "digits": 2, "scale": 1}],
          "rows": [{"label": "A", "place": {"row": "A"}, "runs": ["a-s1"], "missing": "", "printed": {"RMSE": 1.25}},
                   {"label": "B", "place": {"row": "B"}, "runs": ["b-s1"], "missing": "", "printed": {}}]})");
  const std::vector<std::string> sweep{scratch_.path().string()};
  const Runs runs = read_runs(sweep);
  ASSERT_EQ(runs.problems, std::vector<std::string>{});
  EXPECT_EQ(
      sweep_rows(runs.sweeps[0].record, runs.sweeps[0].table),
      (std::vector<std::vector<std::string>>{{"", "RMSE", "paper", "difference", "R2", "seeds"},
                                             {"A", "1.50", "1.25", "+0.25", "0.50", "1"},
                                             {"B", "2.50", "-", "-", "0.50", "1"}}));
  const Page page = make_page(runs);
  EXPECT_FALSE(names_accuracy(page.html));
  EXPECT_EQ(misfit_of(page.html), "");
}

/// Runs of different objectives side by side: each has its own columns and charts, and an older
/// one, which did not record its metrics, has the standard ones.
TEST_F(OwnMetrics, StandBesideThoseOfOtherRuns) {
  make("own", 1, 60);
  make_run(scratch_ / "old");
  support::write_text(
      scratch_ / "old/metrics.jsonl",
      R"({"round": 1, "accuracy": [81, 92], "accuracy_mean": 86.5, "bytes_total": 9,)"
      R"( "validation_accuracy_mean": 80})"
      "\n");
  names_.push_back((scratch_ / "old").string());
  const std::string table = compare_runs(names_).table;
  for (const char* title : {"RMSE", "worst peer", "R2", "accuracy %", "worst accuracy"}) {
    EXPECT_TRUE(holds(table, title)) << title;
  }
  const std::string html = make_page(names_).html;
  EXPECT_EQ(misfit_of(html), "");
  for (const char* id : {"rmse", "rmse-bytes", "validation", "r2", "validation-r2", "accuracy",
                         "accuracy-bytes", "validation-accuracy"}) {
    EXPECT_EQ(count(html, fmt::format("id=\"chart-{}\"", id)), 1u) << id;
  }
}

}  // namespace
}  // namespace hearsay::report
