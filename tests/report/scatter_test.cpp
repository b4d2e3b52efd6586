#include "hearsay/report/page/scatter.h"

#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "hearsay/report/page/sweep_section.h"
#include "report/run_directories.h"

namespace hearsay::report {
namespace {

using support::Scratch;

class ScatterTest : public ::testing::Test {
 protected:
  void make(const std::string& name, const std::string& summary) {
    make_run(scratch_ / name);
    support::write_text(scratch_ / name / "summary.json", summary);
    names_.push_back((scratch_ / name).string());
  }
  Scatter scatter() const { return make_scatter(read_runs(names_)); }

  Scratch scratch_;
  std::vector<std::string> names_;
};

TEST_F(ScatterTest, HasAPointARunAndTheFront) {
  make("plain", R"({"accuracy_mean": 92, "compression_factor": 1})");
  make("good", R"({"accuracy_mean": 91, "compression_factor": 60})");
  make("bad", R"({"accuracy_mean": 90, "compression_factor": 50})");
  make("silent", R"({"accuracy_mean": 80})");
  const Scatter s = scatter();
  ASSERT_EQ(s.points.size(), 3u) << "a run that sends nothing has no factor";
  EXPECT_EQ(s.points[1].x, 60);
  EXPECT_EQ(s.points[1].y, 91);
  ASSERT_EQ(s.fronts.size(), 1u);
  EXPECT_EQ(s.fronts[0].points, (std::vector<std::size_t>{0, 1}));
  EXPECT_FALSE(s.less_is_better);
  EXPECT_EQ(s.note(),
            fmt::format("Not drawn, without a factor as nothing was sent: {}.", names_[3]));
}

TEST_F(ScatterTest, OfClosedFormsWantsTheLeastDistance) {
  make("plain", R"({"distance_to_optimum": 0.1, "compression_factor": 1})");
  make("worse", R"({"distance_to_optimum": 0.5, "compression_factor": 1})");
  const Scatter s = scatter();
  EXPECT_TRUE(s.less_is_better);
  ASSERT_EQ(s.fronts.size(), 1u);
  EXPECT_EQ(s.fronts[0].points, std::vector<std::size_t>{0});
}

/// Whichever directory comes first: a number of every order would be another chart of the same
/// runs.
TEST_F(ScatterTest, ShowsTheMetricThatMostRunsHave) {
  make("closed form", R"({"distance_to_optimum": 0.1, "compression_factor": 1})");
  make("one", R"({"accuracy_mean": 92, "compression_factor": 1})");
  make("two", R"({"accuracy_mean": 91, "compression_factor": 60})");
  for (int turn = 0; turn < 3; ++turn) {
    const Scatter s = scatter();
    EXPECT_FALSE(s.less_is_better) << turn;
    EXPECT_EQ(s.points.size(), 2U) << turn;
    std::ranges::rotate(names_, names_.begin() + 1);
  }
}

TEST_F(ScatterTest, OfAsManyRunsEachDoesNotDependOnTheirOrder) {
  make("a", R"({"distance_to_optimum": 0.1, "compression_factor": 1})");
  make("b", R"({"distance_to_optimum": 0.2, "compression_factor": 1})");
  make("c", R"({"accuracy_mean": 92, "compression_factor": 1})");
  make("d", R"({"accuracy_mean": 91, "compression_factor": 60})");
  const std::string axis = scatter().y;
  std::ranges::reverse(names_);
  EXPECT_EQ(scatter().y, axis);
}

/// 99 % on easy data cannot be compared with 60 % on hard data.
TEST_F(ScatterTest, HasAFrontForEachTask) {
  make("easy", R"({"accuracy_mean": 99, "compression_factor": 70})");
  make("hard", R"({"accuracy_mean": 60, "compression_factor": 50})");
  make("hard, better", R"({"accuracy_mean": 65, "compression_factor": 50})");
  train::RunOptions config;
  config.partition = "skew:0.9";
  config.peers = 2;
  for (const char* name : {"hard", "hard, better"}) {
    support::write_text(scratch_ / name / "config.toml", config.to_toml());
  }
  const Scatter s = scatter();
  ASSERT_EQ(s.fronts.size(), 2u);
  EXPECT_EQ(s.fronts[0].points, std::vector<std::size_t>{0});
  EXPECT_EQ(s.fronts[1].points, std::vector<std::size_t>{2});
  EXPECT_EQ(s.fronts[1].task, "digits, skew:0.9");
}

TEST_F(ScatterTest, OfOneRunIsNone) {
  make("only", R"({"accuracy_mean": 92, "compression_factor": 1})");
  EXPECT_TRUE(scatter().points.empty());
}

/// A sweep of three rows: A has two seeds and a printed factor, B only a printed figure, C no runs.
/// SP is the accuracy before the final round, SCSP and the factor those at the end. With d = 100 a
/// message has 400 bytes over the factor.
class SweepScatter : public ScatterTest {
 protected:
  void make_lines(const std::string& name, double sp_factor, double sp, double factor, double end) {
    make(name, R"({"accuracy_mean": 1, "dim": 100, "training_rounds": 9})");
    const auto line = [](int round, double its_factor, double accuracy) {
      return fmt::format(
          "{{\"round\": {}, \"accuracy_mean\": {}, \"edge_rounds\": 8, \"bytes_total\": {}}}\n",
          round, accuracy, 8 * 400 / its_factor);
    };
    support::write_text(scratch_ / name / "metrics.jsonl",
                        line(9, sp_factor, sp) + line(10, factor, end));
  }
  void SetUp() override {
    make_lines("a-s1", 80, 89, 40, 90);
    make_lines("a-s2", 160, 90, 80, 92);
    make_lines("b-s1", 1, 94, 1, 94);
    support::write_text(
        scratch_ / "t.sweep.json",
        R"({"v": 1, "title": "t", "source": "", "note": "", "quick": false, "banner": "",
            "differences": [],
            "figures": [{"name": "SP", "key": "accuracy_mean", "at": "trained", "unit": "%", "digits": 2, "scale": 1},
                        {"name": "SCSP", "key": "accuracy_mean", "at": "end", "unit": "%", "digits": 2, "scale": 1},
                        {"name": "factor", "key": "compression_factor", "at": "end", "unit": "", "digits": 1, "scale": 1}],
            "rows": [{"label": "A", "place": {"row": "A"}, "runs": ["a-s1", "a-s2"], "missing": "",
                      "printed": {"SP": 89.5, "SCSP": 91.5, "factor": 66.8}},
                     {"label": "B", "place": {"row": "B"}, "runs": ["b-s1"], "missing": "", "printed": {"SCSP": 93}},
                     {"label": "C", "place": {"row": "C"}, "runs": [], "missing": "why", "printed": {"SCSP": 1}}]})");
    names_ = {scratch_.path().string()};
  }
};

TEST_F(SweepScatter, HasMeansOverSeedsAndWhatIsPrinted) {
  const Scatter s = scatter();
  ASSERT_EQ(s.points.size(), 4u);
  EXPECT_EQ(s.points[1].name, "A");
  EXPECT_EQ(s.points[1].figure, "SCSP");
  EXPECT_DOUBLE_EQ(s.points[1].x, 60);
  EXPECT_EQ(s.points[1].y, 91);
  EXPECT_DOUBLE_EQ(s.points[1].low, 91 - std::sqrt(2));
  EXPECT_DOUBLE_EQ(s.points[1].high, 91 + std::sqrt(2));
  ASSERT_EQ(s.printed.size(), 3u) << "C has no factor of anybody";
  EXPECT_EQ(s.printed[1].x, 66.8);
  EXPECT_EQ(s.printed[1].y, 91.5);
  EXPECT_EQ(s.printed[2].x, 1);
  EXPECT_TRUE(s.printed[2].x_is_ours);
  EXPECT_EQ(s.note(), "Where the paper prints no factor its mark stands at ours.");
}

/// The factor of what was sent until then: uncompressed final rounds are not charged to earlier
/// evaluations.
TEST_F(SweepScatter, PlacesAFigureAtTheFactorOfItsOwnRound) {
  const Scatter s = scatter();
  ASSERT_EQ(s.points.size(), 4u);
  EXPECT_EQ(s.points[0].figure, "SP");
  EXPECT_DOUBLE_EQ(s.points[0].x, 120);
  EXPECT_EQ(s.points[0].y, 89.5);
  EXPECT_DOUBLE_EQ(s.printed[0].x, 120) << "the printed factor is of another moment";
  EXPECT_TRUE(s.printed[0].x_is_ours);
  ASSERT_EQ(s.fronts.size(), 1u);
  EXPECT_EQ(s.fronts[0].points, (std::vector<std::size_t>{2, 3, 1, 0})) << "94, 94, 91, 89.5";
}

TEST_F(SweepScatter, HasDotsBesideIt) {
  const Runs runs = read_runs(names_);
  const auto plots = dot_plots(runs.sweeps[0], "chart-printed-0-");
  ASSERT_EQ(plots.size(), 2u) << "a factor has no unit that others share";
  EXPECT_EQ(plots[0].id, "chart-printed-0-0");
  EXPECT_EQ(plots[0].x, "SP, SCSP (%, log)");
  EXPECT_EQ(plots[0].rows, (std::vector<std::string>{"A", "B", "C"}));
  ASSERT_EQ(plots[0].series.size(), 2u);
  EXPECT_EQ(plots[0].series[1].ours.size(), 2u);
  EXPECT_EQ(plots[0].series[1].printed[2].x, 1);
  EXPECT_TRUE(plots[0].log) << "from 1 to 94";
  EXPECT_EQ(plots[1].title, "factor");
  EXPECT_EQ(plots[1].x, "factor (log)");
}

TEST_F(SweepScatter, IsToldInWordsToo) {
  const std::string html = sweep_section(read_runs(names_).sweeps[0]);
  for (const char* part : {"<table class=\"sortable\">", "91.00 +- 1.41", ">91.5</td>",
                           "data-value=\"-0.5\">-0.50</td>", "<li>C: why</li>"}) {
    EXPECT_TRUE(holds(html, part)) << part << "\n" << html;
  }
}

}  // namespace
}  // namespace hearsay::report
