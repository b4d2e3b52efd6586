#include "hearsay/report/page/charts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "report/run_directories.h"

namespace hearsay::report {
namespace {

namespace fs = std::filesystem;
using support::Scratch;

class ChartsTest : public ::testing::Test {
 protected:
  /// A run with these evaluations.
  ShownRun run(const std::string& name, std::size_t peers, const std::string& lines) {
    fs::create_directories(scratch_ / name);
    train::RunOptions config;
    config.peers = peers;
    support::write_text(scratch_ / name / "config.toml", config.to_toml());
    support::write_text(scratch_ / name / "metrics.jsonl", lines);
    return {Record(scratch_ / name), name, {}};
  }

  Scratch scratch_;
};

std::vector<const ShownRun*> all_of(const std::vector<ShownRun>& runs) {
  std::vector<const ShownRun*> all;
  for (const ShownRun& run : runs) all.push_back(&run);
  return all;
}

const Chart* find(const std::vector<Chart>& charts, const std::string& id) {
  const auto found = std::ranges::find(charts, id, &Chart::id);
  return found == charts.end() ? nullptr : &*found;
}

std::vector<std::string> names(const Chart& chart) {
  std::vector<std::string> all;
  for (const Curve& curve : chart.curves) all.push_back(curve.name);
  return all;
}

TEST_F(ChartsTest, HaveACurveAPeerWhileTheyAreFew) {
  const auto charts = charts_of_run(run("few", 3,
                                        "{\"round\": 1, \"accuracy\": [1, 2, 3], "
                                        "\"accuracy_mean\": 2, \"accuracy_of_average\": 5}\n"),
                                    0, false);
  ASSERT_EQ(charts.size(), 1u) << "what was not measured is not drawn";
  EXPECT_EQ(names(charts[0]), (std::vector<std::string>{"peer 0", "peer 1", "peer 2",
                                                        "mean of the peers", "averaged model"}));
  EXPECT_EQ(charts[0].curves.back().look, Curve::Look::kStrong);
}

TEST_F(ChartsTest, HaveARangeAndItsEndsForMany) {
  std::string list;
  for (int i = 0; i < 12; ++i) list += fmt::format("{}{}", i == 0 ? "" : ", ", 50 + (i * 5) % 12);
  const auto charts = charts_of_run(
      run("many", 12,
          fmt::format(
              "{{\"round\": 1, \"accuracy\": [{}], \"accuracy_mean\": 55, \"accuracy_min\": 50,"
              " \"accuracy_max\": 61, \"accuracy_of_average\": 70}}\n",
              list)),
      0, false);
  EXPECT_EQ(names(charts[0]),
            (std::vector<std::string>{"range of the peers", "range of the peers",
                                      "peer 7, best at the end", "peer 0, worst at the end",
                                      "mean of the peers", "averaged model"}));
  EXPECT_EQ(charts[0].curves[0].look, Curve::Look::kBand);
  EXPECT_EQ(charts[0].curves[1].key, "accuracy_max");
}

TEST_F(ChartsTest, ThatWouldShowNothingAreLeftOutUnlessTheyMayComeToIt) {
  const ShownRun still =
      run("still", 2,
          "{\"round\": 0, \"bytes_total\": 0, \"mass_drift\": 0, \"divergence\": 0,"
          " \"push_sum_min\": 1, \"push_sum_max\": 1, \"train_loss\": 0, \"loss\": 2,"
          " \"accuracy_mean\": 10}\n");
  const auto settled = charts_of_run(still, 0, false);
  for (const char* id : {"bytes", "mass-drift", "divergence", "push-sum", "accuracy-bytes"}) {
    EXPECT_EQ(find(settled, id), nullptr) << id;
  }
  EXPECT_EQ(find(settled, "loss")->curves.size(), 1u) << "no minibatch yet";
  const auto live = charts_of_run(still, 0, true);
  for (const char* id : {"bytes", "mass-drift", "divergence", "push-sum", "accuracy-bytes"}) {
    EXPECT_NE(find(live, id), nullptr) << id;
  }
  EXPECT_EQ(find(live, "loss")->curves.size(), 2u);
}

TEST_F(ChartsTest, DrawWhatHasOneNameAlike) {
  const auto charts = charts_of_run(
      run("alike", 2,
          "{\"round\": 1, \"accuracy\": [1, 2], \"accuracy_mean\": 1.5, \"accuracy_of_average\": 2,"
          " \"validation_accuracy_mean\": 5, \"validation_accuracy_of_average\": 6,"
          " \"loss\": 1, \"loss_of_average\": 0.5, \"bytes_total\": 5,"
          " \"distance_to_optimum\": 1, \"distance_of_average\": 0.5}\n"),
      0, false);
  std::map<std::string, std::set<std::tuple<std::size_t, std::size_t, Curve::Look>>> looks;
  for (const Chart& chart : charts) {
    for (const Curve& curve : chart.curves) {
      const std::string name =
          curve.name.starts_with("this run, ") ? curve.name.substr(10) : curve.name;
      looks[name].emplace(curve.colour, curve.dash, curve.look);
    }
  }
  EXPECT_EQ(looks["averaged model"].size(), 1u);
  EXPECT_EQ(looks["mean of the peers"].size(), 1u);
  EXPECT_NE(looks["averaged model"], looks["mean of the peers"]);
}

TEST_F(ChartsTest, ReadPushSumWeightsThatALineLeavesOutAsOne) {
  const ShownRun sums = run("sums", 2,
                            "{\"round\": 0, \"push_sum_min\": 1, \"push_sum_max\": 1}\n"
                            "{\"round\": 1, \"push_sum_min\": 0.8, \"push_sum_max\": 1.2,"
                            " \"push_sum\": [0.8, 1.2]}\n");
  const auto charts = charts_of_run(sums, 0, false);
  const Chart* chart = find(charts, "push-sum");
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(values_of(chart->curves[1], sums.record), (std::vector<double>{1, 1.2}));
}

TEST_F(ChartsTest, HaveNoMinibatchLossBeforeTheFirstMinibatch) {
  const ShownRun losses = run("losses", 2,
                              "{\"round\": 0, \"train_loss\": 0, \"loss\": 2}\n"
                              "{\"round\": 5, \"train_loss\": 1.5, \"loss\": 1}\n");
  const auto charts = charts_of_run(losses, 0, false);
  const Chart* chart = find(charts, "loss");
  ASSERT_NE(chart, nullptr);
  const auto minibatches = values_of(chart->curves.back(), losses.record);
  EXPECT_TRUE(std::isnan(minibatches[0]));
  EXPECT_EQ(minibatches[1], 1.5);
}

TEST_F(ChartsTest, SayWhatTheirAxesAreAndInWhatUnit) {
  const ShownRun all =
      run("all", 2,
          "{\"round\": 1, \"accuracy\": [1, 2], \"accuracy_mean\": 1.5, \"loss\": 1,"
          " \"divergence\": 1, \"mass_drift\": 1, \"bytes_total\": 5,"
          " \"distance_to_optimum\": 1, \"validation_accuracy_mean\": 5,"
          " \"push_sum_min\": 0.5, \"push_sum_max\": 2, \"push_sum\": [0.5, 2]}\n");
  const auto charts = charts_of_run(all, 0, false);
  EXPECT_EQ(charts.size(), 9u);
  for (const Chart& chart : charts) {
    EXPECT_FALSE(chart.y.empty());
    EXPECT_FALSE(chart.title.empty());
  }
  EXPECT_EQ(find(charts, "accuracy")->y, "Test accuracy (%)");
  EXPECT_EQ(find(charts, "bytes")->y, "Bytes sent (B)");
  EXPECT_EQ(find(charts, "loss")->y, "Loss") << "a number without unit";
}

TEST_F(ChartsTest, OfSeveralRunsLookDifferentUnlessTheyHaveOneLabel) {
  std::vector<ShownRun> runs;
  std::vector<std::size_t> record_of;
  for (std::size_t k = 0; k < kColours * kDashes; ++k) {
    runs.push_back(run(fmt::format("run {}", k), 2, "{\"round\": 1, \"loss\": 3}\n"));
    record_of.push_back(k);
  }
  runs.push_back(run("again", 2, "{\"round\": 1, \"loss\": 3}\n"));
  record_of.push_back(kColours * kDashes);
  runs.back().label = "run 5";
  const auto charts = charts_of_several(all_of(runs), record_of);
  ASSERT_EQ(charts.size(), 1u);
  std::set<std::pair<std::size_t, std::size_t>> looks;
  for (const Curve& curve : charts[0].curves) looks.emplace(curve.colour, curve.dash);
  EXPECT_EQ(looks.size(), kColours * kDashes);
  EXPECT_EQ(charts[0].curves.back().colour, charts[0].curves[5].colour);
}

TEST_F(ChartsTest, AgainstBytesHaveOnlyRunsThatSendSome) {
  const std::vector<std::size_t> record_of{0, 1};
  std::vector<ShownRun> runs;
  runs.push_back(run("talks", 2, "{\"round\": 1, \"accuracy_mean\": 3, \"bytes_total\": 8}\n"));
  runs.push_back(run("silent", 2, "{\"round\": 1, \"accuracy_mean\": 3, \"bytes_total\": 0}\n"));
  const auto charts = charts_of_several(all_of(runs), record_of);
  EXPECT_EQ(names(*find(charts, "accuracy")), (std::vector<std::string>{"talks", "silent"}));
  EXPECT_EQ(names(*find(charts, "accuracy-bytes")), std::vector<std::string>{"talks"});
  EXPECT_EQ(find(charts, "accuracy-bytes")->axis, "bytes");
}

}  // namespace
}  // namespace hearsay::report
