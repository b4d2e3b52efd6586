#include "hearsay/sweep/sweep_runs.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/run/run.h"
#include "hearsay/run/run_lock.h"
#include "hearsay/sweep/sweep_record.h"
#include "support/scratch.h"

namespace hearsay::sweep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = R"(
title = "t"
seeds = [1, 2]
rows = [
  {label = "ResNet-20, 0.1 %!", lr = 0.05},
  {label = "b", lr = 0.1},
  {label = "the first again", lr = 0.05},
  {label = "later", missing = "not there yet"},
]
[base]
data = "least-squares"
rounds = 20
evaluate = 5
)";

class SweepRunsTest : public ::testing::Test {
 protected:
  void train(const SweepRun& run) { run::run(run.config, run.out, silent_); }

  support::Scratch scratch_;
  run::Observer silent_;
  Sweep sweep_ = read_sweep(kFile, "f.toml");
};

TEST_F(SweepRunsTest, LieUnderLabelSeedAndHash) {
  const SweepRuns all = runs_of(sweep_, scratch_.path());
  ASSERT_EQ(all.runs.size(), 4U) << "the third row has the runs of the first";
  const std::string hash = sweep_.rows[0].configs[1].hash();
  EXPECT_EQ(all.runs[1].out, scratch_ / ("resnet-20-0.1-s2-" + hash.substr(0, 8)));
  EXPECT_EQ(all.runs[1].label, "ResNet-20, 0.1 %!, seed 2");
  EXPECT_EQ(all.of_row, (std::vector<std::vector<std::size_t>>{{0, 1}, {2, 3}, {0, 1}, {}}));
}

/// A baseline that sets what an axis sets is one run for all its values, and is called so.
TEST_F(SweepRunsTest, OfARowThatOutranksAnAxisAreNamedWithoutIt) {
  const Sweep sweep = read_sweep(R"(
title = "t"
rows = [{label = "plain", algorithm = "dsgd", compressor = "identity"},
        {label = "choco", algorithm = "choco"}]
[base]
data = "least-squares"
rounds = 20
[[axes]]
name = "keep"
label = ["1 %", "10 %"]
compressor = ["topk:keep=0.01", "topk:keep=0.1"]
[[axes]]
name = "rate"
lr = [0.1, 0.2]
)",
                                 "f.toml");
  const SweepRuns all = runs_of(sweep, scratch_.path());
  ASSERT_EQ(all.runs.size(), 6U);
  EXPECT_EQ(all.runs[0].label, "plain, rate 0.1, seed 1");
  EXPECT_EQ(all.runs[1].label, "plain, rate 0.2, seed 1");
  EXPECT_TRUE(all.runs[0].out.filename().string().starts_with("plain-rate-0.1-s1-"));
  EXPECT_EQ(all.runs[2].label, "choco, keep 1 %, rate 0.1, seed 1");
  EXPECT_EQ(all.of_row[2], all.of_row[0]) << "keep 10 % has the run of keep 1 %";
}

TEST_F(SweepRunsTest, AreFoundByTheirHashWhateverTheirLabel) {
  SweepRuns all = runs_of(sweep_, scratch_.path());
  for (const SweepRun& run : all.runs) EXPECT_EQ(state_of(run), RunState::kOpen);
  train(all.runs[0]);
  EXPECT_EQ(state_of(all.runs[0]), RunState::kFinished);
  EXPECT_EQ(state_of(all.runs[1]), RunState::kOpen);

  Sweep renamed = sweep_;
  renamed.rows.front().label = "another name";
  EXPECT_EQ(runs_of(renamed, scratch_.path()).runs[0].out, all.runs[0].out);
  // A directory that only has a matching name is not used.
  const fs::path liar = scratch_ / ("x-" + sweep_.rows[1].configs[0].hash().substr(0, 8));
  fs::create_directories(liar);
  fs::copy(all.runs[0].out / "config.toml", liar / "config.toml");
  EXPECT_NE(runs_of(sweep_, scratch_.path()).runs[2].out, liar);
}

TEST_F(SweepRunsTest, AreBegunWithoutASummaryOfTheirOwn) {
  const SweepRun run = runs_of(sweep_, scratch_.path()).runs[0];
  train(run);
  EXPECT_EQ(fraction_done(run), 1.0);
  const std::string summary = support::read_text(run.out / "summary.json");
  support::write_text(run.out / "summary.json", summary.substr(0, summary.size() / 2));
  EXPECT_EQ(state_of(run), RunState::kBegun) << "a damaged summary";
  support::write_text(run.out / "summary.json", "{\"config_hash\": [1]}");
  EXPECT_EQ(state_of(run), RunState::kBegun) << "a foreign summary";
  fs::remove(run.out / "summary.json");
  EXPECT_EQ(state_of(run), RunState::kBegun);

  const std::string lines = support::read_text(run.out / "metrics.jsonl");
  const std::size_t second = lines.find('\n', lines.find('\n') + 1) + 1;
  support::write_text(run.out / "metrics.jsonl", lines.substr(0, second + 10));
  EXPECT_EQ(fraction_done(run), 0.25) << "a line that is being written does not count";
  support::write_text(run.out / "metrics.jsonl", "");
  EXPECT_EQ(fraction_done(run), 0.0);
}

TEST_F(SweepRunsTest, AreElsewhereWhileSomebodyTrainsThem) {
  const SweepRun run = runs_of(sweep_, scratch_.path()).runs[0];
  train(run);
  fs::remove(run.out / "summary.json");
  {
    run::RunLock other;
    other.take(run.out / "config.toml");
    EXPECT_EQ(state_of(run), RunState::kElsewhere);
    EXPECT_THROW(run::resume(run.out, 0, silent_), InvalidArgument);
  }
  EXPECT_EQ(state_of(run), RunState::kBegun);
  EXPECT_TRUE(run::resume(run.out, 0, silent_).finished);
  EXPECT_EQ(state_of(run), RunState::kFinished);
}

TEST_F(SweepRunsTest, AreWantedByOneOfTheirRowsAndTheirSeed) {
  const SweepRuns all = runs_of(
      read_sweep(kFile, "f.toml", {.seeds = {2, 5}, .rows = {"the first again"}}), scratch_.path());
  std::vector<std::string> labels;
  for (const SweepRun& run : wanted_runs(all)) labels.push_back(run.label);
  EXPECT_EQ(labels,
            (std::vector<std::string>{"ResNet-20, 0.1 %!, seed 2", "ResNet-20, 0.1 %!, seed 5"}));
  EXPECT_EQ(all.runs.size(), 6U);
  EXPECT_EQ(wanted_runs(runs_of(sweep_, scratch_.path())).size(), 4U);
}

TEST_F(SweepRunsTest, AreNamedInTheRecord) {
  const SweepRuns all = runs_of(sweep_, scratch_.path());
  sweep_.banner = "b";
  sweep_.rows[0].printed = {{"SP", 1.5}};
  sweep_.figures = {{.name = "a", .key = "loss", .at = Figure::At::kTrained, .digits = 3},
                    {.name = "b",
                     .key = "loss",
                     .unit = "%",
                     .at = Figure::At::kRound,
                     .round = 7,
                     .scale = 0.5,
                     .window = 4,
                     .squared = true,
                     .against = "r",
                     .above = 1.2}};
  sweep_.differences = {{.label = "d",
                         .from = {{{"row", "z"}, {"axis", "a"}}, "a"},
                         .minus = {{{"row", "y"}, {"axis", "b"}}, "b"},
                         .relation = Difference::Relation::kAtMost,
                         .printed = 0.5}};
  write_sweep_record(scratch_ / "f.sweep.json", sweep_, all);
  const SweepRecord record = read_sweep_record(scratch_ / "f.sweep.json");
  EXPECT_EQ(record.sweep.title, "t");
  EXPECT_EQ(record.sweep.banner, "b");
  ASSERT_EQ(record.runs.size(), 4U);
  EXPECT_EQ(record.runs[2], (std::vector<fs::path>{all.runs[0].out, all.runs[1].out}));
  EXPECT_EQ(record.sweep.rows[0].printed, sweep_.rows[0].printed);
  EXPECT_EQ(record.sweep.rows[0].place, sweep_.rows[0].place);
  EXPECT_EQ(record.sweep.rows[3].missing, "not there yet");
  ASSERT_EQ(record.sweep.figures.size(), 2U);
  EXPECT_EQ(record.sweep.figures[0].at, Figure::At::kTrained);
  EXPECT_EQ(record.sweep.figures[0].digits, 3);
  const Figure& figure = record.sweep.figures[1];
  EXPECT_EQ(figure.at, Figure::At::kRound);
  EXPECT_EQ(figure.round, 7U);
  EXPECT_EQ(figure.scale, 0.5);
  EXPECT_EQ(figure.window, 4U);
  EXPECT_TRUE(figure.squared);
  EXPECT_EQ(figure.against, "r");
  EXPECT_EQ(figure.above, 1.2);
  const Difference& difference = record.sweep.differences.at(0);
  EXPECT_EQ(difference.from.place, (Place{{"row", "z"}, {"axis", "a"}})) << "row first";
  EXPECT_EQ(difference.minus.figure, "b");
  EXPECT_EQ(difference.relation, Difference::Relation::kAtMost);
  EXPECT_EQ(difference.printed, 0.5);
  EXPECT_TRUE(record.failed.empty());
}

/// JSON has the keys of a place in alphabetical order, tables in that of the file.
TEST_F(SweepRunsTest, KeepTheOrderOfAxesAndWhyTheyFailedInTheRecord) {
  const Sweep sweep = read_sweep(
      "title = 't'\nrows = [{label = 'a'}]\n[base]\ndata = 'consensus'\nrounds = 5\n"
      "[[axes]]\nname = 'wait'\nevaluate = [1, 2]\n[[axes]]\nname = 'batch'\nbatch = [1, 2]\n",
      "f.toml");
  const SweepRuns all = runs_of(sweep, scratch_.path());
  const std::string name = all.runs[0].out.filename().string();
  write_sweep_record(scratch_ / "f.sweep.json", sweep, all, {{name, "[train] it is nan"}});
  const SweepRecord record = read_sweep_record(scratch_ / "f.sweep.json");
  EXPECT_EQ(record.sweep.rows[0].place, (Place{{"row", "a"}, {"wait", "1"}, {"batch", "1"}}));
  EXPECT_EQ(record.failed, (SweepRecord::Failures{{name, "[train] it is nan"}}));
}

TEST(SweepRecord, ThatIsDamagedIsNamed) {
  const support::Scratch scratch;
  const auto refusal = [&](const std::string& text) -> std::string {
    support::write_text(scratch / "x.sweep.json", text);
    try {
      read_sweep_record(scratch / "x.sweep.json");
    } catch (const CorruptData& error) {
      return error.what();
    }
    return "none";
  };
  const std::string file = (scratch / "x.sweep.json").string();
  for (const char* text : {"", "{", "[]"}) {
    EXPECT_EQ(refusal(text), "[sweep] " + file + ", line 1: it is no JSON object");
  }
  for (const char* text : {"{\"v\": 1}", "{\"v\": 2}", "{\"v\": 1, \"title\": 3}"}) {
    EXPECT_TRUE(refusal(text).starts_with("[sweep] " + file + " is no record")) << refusal(text);
  }
  for (const char* text : {"{\"v\": 1}", "{\"v\": 1, \"title\": 3}"}) {
    EXPECT_EQ(refusal(text), "[sweep] " + file +
                                 " is no record of a sweep: a value is missing or of another type "
                                 "than hearsay writes; remove it, or sweep again");
  }
  EXPECT_EQ(refusal("{}"),
            "[sweep] " + file + " is no record that this version reads: its 'v' is not 1");
  constexpr std::size_t kDeep = 1'000'000;
  EXPECT_EQ(refusal("{\"v\": " + std::string(kDeep, '[') + std::string(kDeep, ']') + "}"),
            "[sweep] " + file + " is no record that this version reads: its 'v' is not 1");
}

TEST(SweepRecord, SpeaksOfRunsBesideItOnly) {
  const support::Scratch scratch;
  support::write_text(
      scratch / "x.sweep.json",
      R"({"v": 1, "title": "", "source": "", "note": "", "quick": false, "banner": "",
                 "figures": [], "differences": [], "rows": [{"label": "a", "place": {},
                 "runs": ["../../etc"], "printed": {}, "missing": ""}]})");
  EXPECT_EQ(read_sweep_record(scratch / "x.sweep.json").runs[0][0], scratch / "etc");
}

}  // namespace
}  // namespace hearsay::sweep
