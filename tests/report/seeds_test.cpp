#include "hearsay/report/seeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/report/export.h"
#include "hearsay/report/page/charts.h"
#include "hearsay/report/page/page.h"
#include "hearsay/report/table.h"
#include "report/run_directories.h"
#include "report/well_formed.h"

namespace hearsay::report {
namespace {

namespace fs = std::filesystem;

class Seeds : public ::testing::Test {
 protected:
  /// A run whose accuracy ends at `accuracy`, with an evaluation at each of these rounds.
  void add(const std::string& name, std::uint64_t seed, double accuracy,
           const std::string& algorithm = "sgp", const std::vector<int>& rounds = {0, 10, 20},
           bool finished = true) {
    fs::create_directories(scratch_ / name);
    train::RunOptions config;
    config.peers = 2;
    config.algorithm = algorithm;
    config.seed = seed;
    support::write_text(scratch_ / name / "config.toml", config.to_toml());
    std::string lines;
    for (const int round : rounds) {
      lines += fmt::format(R"({{"round": {}, "accuracy_mean": {}, "loss": 1, "bytes_total": {}}})"
                           "\n",
                           round, accuracy - 20 + round, 100 * round);
    }
    support::write_text(scratch_ / name / "metrics.jsonl", lines);
    if (!finished) return;
    support::write_text(
        scratch_ / name / "summary.json",
        fmt::format(R"({{"peers": 2, "seed": {}, "accuracy_mean": {}, "bytes_total": 2000}})", seed,
                    accuracy));
  }
  Runs read() const { return read_runs(std::vector<std::string>{scratch_.path().string()}); }

  support::Scratch scratch_;
};

std::vector<double> figure(const Record& record, const std::string& key) {
  const auto values = record.columns().figure(key);
  return {values.begin(), values.end()};
}

TEST_F(Seeds, OfOneSettingAreOne) {
  add("b", 2, 92);
  add("a", 1, 90);
  add("c", 3, 97);
  add("other", 1, 50, "dsgd");
  const Runs runs = read();
  ASSERT_EQ(runs.groups.size(), 2u);
  ASSERT_TRUE(runs.groups[0].mean);
  EXPECT_EQ(runs.groups[0].runs, (std::vector<std::size_t>{0, 1, 2})) << "by seed";
  const Record& mean = runs.groups[0].mean->record;
  EXPECT_EQ(runs.groups[0].mean->label, "sgp, 3 seeds");
  EXPECT_EQ(mean.figure("accuracy_mean"), 93);
  EXPECT_DOUBLE_EQ(mean.deviation("accuracy_mean").value(), std::sqrt(13));
  EXPECT_EQ(mean.figure("n"), 3);
  EXPECT_EQ(mean.numbers("seeds"), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(figure(mean, "accuracy_mean"), (std::vector<double>{73, 83, 93}));
  EXPECT_DOUBLE_EQ(figure(mean, "accuracy_mean_low")[2], 93 - std::sqrt(13));
  EXPECT_DOUBLE_EQ(figure(mean, "accuracy_mean_high")[2], 93 + std::sqrt(13));
  EXPECT_FALSE(runs.groups[1].mean) << "one seed has no spread";
  EXPECT_EQ(shown_of(runs, runs.groups[1]).label, "dsgd");
}

TEST_F(Seeds, CountOnlyOnceTheyHaveFinished) {
  add("a", 1, 90);
  add("b", 2, 92);
  add("c", 3, 10, "sgp", {0, 10}, false);
  Runs runs = read();
  EXPECT_EQ(runs.groups[0].mean->label, "sgp, 2 of 3 seeds");
  EXPECT_EQ(runs.groups[0].mean->record.figure("accuracy_mean"), 91);
  EXPECT_EQ(figure(runs.groups[0].mean->record, "round"), (std::vector<double>{0, 10, 20}));
  for (const char* name : {"a", "b"}) fs::remove(scratch_ / name / "summary.json");
  runs = read();
  EXPECT_EQ(runs.groups[0].mean->label, "sgp, 3 seeds") << "none has: all count";
  EXPECT_FALSE(runs.groups[0].mean->record.finished());
  EXPECT_EQ(figure(runs.groups[0].mean->record, "round"), (std::vector<double>{0, 10}))
      << "where all were evaluated";
}

TEST_F(Seeds, HaveNoMeanWhereOneIsNotFinite) {
  add("a", 1, 90);
  add("b", 2, 92);
  support::write_text(scratch_ / "b/metrics.jsonl", R"({"round": 0, "accuracy_mean": 72})"
                                                    "\n"
                                                    R"({"round": 10, "accuracy_mean": null})"
                                                    "\n");
  support::write_text(scratch_ / "b/summary.json", R"({"accuracy_mean": null})");
  const Runs runs = read();
  const Record& mean = runs.groups[0].mean->record;
  EXPECT_EQ(figure(mean, "accuracy_mean"), (std::vector<double>{71, Columns::kNotFinite}));
  EXPECT_FALSE(mean.figure("accuracy_mean")) << "not that of the seeds that are left";
}

TEST_F(Seeds, ThatOccurTwiceAreRunsOfTheirOwn) {
  add("a", 1, 90);
  add("b", 1, 92);
  add("c", 1, 50, "dsgd");
  const Runs runs = read();
  ASSERT_EQ(runs.groups.size(), 3u);
  EXPECT_EQ(runs.runs[0].label, "sgp (" + (scratch_ / "a").string() + ")");
  EXPECT_EQ(runs.runs[2].label, "dsgd");
}

TEST_F(Seeds, KeepTheirDirectoriesAsNamesWhereNothingDiffers) {
  add("a", 1, 90);
  add("b", 1, 92);
  const Runs runs = read();
  EXPECT_EQ(runs.runs[1].label, (scratch_ / "b").string());
}

TEST_F(Seeds, AreMeanAndDeviationInTables) {
  add("a", 1, 90);
  add("b", 2, 92);
  const Runs runs = read();
  const std::string table = compare_runs(runs).table;
  EXPECT_TRUE(holds(table, "sgp, 2 seeds")) << table;
  EXPECT_TRUE(holds(table, "91.00 +- 1.41")) << table;
  EXPECT_TRUE(holds(table, "    2 kB")) << "all alike: no deviation\n" << table;
  const std::string each = seeds_table(runs);
  for (const char* part : {"seed 1", "seed 2", "mean +- deviation, n = 2", "91.00 +- 1.41"}) {
    EXPECT_TRUE(holds(each, part)) << each;
  }
}

TEST_F(Seeds, HaveABandInCharts) {
  add("a", 1, 90);
  add("b", 2, 92);
  add("c", 1, 50, "dsgd");
  const Runs runs = read();
  const ShownRun* shown[] = {&shown_of(runs, runs.groups[0]), &shown_of(runs, runs.groups[1])};
  const std::size_t record_of[] = {0, 1};
  const auto charts = charts_of_several(shown, record_of);
  const auto accuracy = std::ranges::find(charts, "accuracy", &Chart::id);
  ASSERT_NE(accuracy, charts.end());
  ASSERT_EQ(accuracy->curves.size(), 4u) << "a mean, its band, and a run alone";
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(accuracy->curves[k].name, "sgp, 2 seeds");
    EXPECT_EQ(accuracy->curves[k].colour, accuracy->curves[0].colour);
    EXPECT_EQ(accuracy->curves[k].look == Curve::Look::kBand, k > 0);
  }
  EXPECT_EQ(accuracy->curves[1].key, "accuracy_mean_low");
  EXPECT_EQ(accuracy->curves[2].key, "accuracy_mean_high");
  EXPECT_NE(accuracy->curves[3].look, Curve::Look::kBand);
}

TEST_F(Seeds, HaveAPage) {
  add("a", 1, 90);
  add("b", 2, 92);
  const Page page = make_page(read());
  EXPECT_EQ(page.runs, 2u);
  EXPECT_EQ(misfit_of(page.html), "");
  for (const char* part : {"sgp, 2 seeds", "91.00 +- 1.41", "id=\"run-1\"",
                           "\"key\":\"accuracy_mean_low\"", "sgp, 2 seeds, - deviation"}) {
    EXPECT_TRUE(holds(page.html, part)) << part;
  }
}

TEST_F(Seeds, AreWrittenForPrograms) {
  add("a", 1, 90);
  add("b", 2, 92);
  add("c", 4, 50, "dsgd");
  const auto json = nlohmann::json::parse(results_json(read()));
  ASSERT_EQ(json["runs"].size(), 2u);
  const auto& group = json["runs"][0];
  EXPECT_EQ(group["name"], "sgp");
  EXPECT_EQ(group["n"], 2);
  EXPECT_EQ(group["seeds"], (std::vector<int>{1, 2}));
  EXPECT_EQ(group["directories"].size(), 2u);
  EXPECT_EQ(group["mean"]["accuracy_mean"], 91);
  EXPECT_DOUBLE_EQ(group["deviation"]["accuracy_mean"], std::sqrt(2));
  EXPECT_EQ(group["finished"], true);
  EXPECT_EQ(json["runs"][1]["n"], 1);
  EXPECT_EQ(json["runs"][1]["seeds"], std::vector<int>{4});
  EXPECT_FALSE(json["runs"][1].contains("deviation")) << "one seed has none";
  const std::string csv = to_csv(read());
  EXPECT_TRUE(csv.starts_with("table,name,n,finished,")) << csv;
  EXPECT_TRUE(holds(csv, ",accuracy_mean,accuracy_mean_sd")) << csv;
  EXPECT_TRUE(holds(csv, "91,1.4142135623730951,")) << csv;
}

}  // namespace
}  // namespace hearsay::report
