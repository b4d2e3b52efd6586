#include "hearsay/sweep/run_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hearsay/core/error.h"
#include "hearsay/run/run_lock.h"
#include "hearsay/sweep/dispatch/time_left.h"
#include "hearsay/sweep/sweep_record.h"
#include "support/scratch.h"

namespace hearsay::sweep {
namespace {

namespace fs = std::filesystem;
using How = RunEnd::How;

/// Writes down what it is told: "+a, seed 1" begins, "~" goes on, "=" finished, "!" failed, "-"
/// stopped, "?" is trained by another process.
class Notes : public SweepObserver {
 public:
  void began(const SweepRun& run, bool resumed) override {
    text_.push_back((resumed ? "~" : "+") + run.label);
  }
  void ended(const SweepRun& run, const RunEnd& end) override {
    constexpr const char* kMarks[] = {"=", "!", "-", "?"};
    text_.push_back(kMarks[static_cast<int>(end.how)] + run.label);
  }
  const std::vector<std::string>& text() const { return text_; }

 private:
  std::vector<std::string> text_;
};

/// Requests a stop once a run has begun and evaluated its initial models.
class Stopper : public Notes {
 public:
  void began(const SweepRun& run, bool resumed) override {
    Notes::began(run, resumed);
    metrics_ = run.out / "metrics.jsonl";
  }
  bool stop_requested() override {
    std::error_code error;
    return !metrics_.empty() && fs::exists(metrics_, error) && fs::file_size(metrics_, error) > 0;
  }

 private:
  fs::path metrics_;
};

/// In this process, and in processes of the program `hearsay`.
class RunSweep : public ::testing::TestWithParam<const char*> {
 protected:
  SweepOutcome run(const std::string& text, const char* out, SweepObserver& observer) {
    support::write_text(scratch_ / "f.toml", text);
    return run_sweep(read_sweep_file((scratch_ / "f.toml").string()), scratch_ / out, options_,
                     observer);
  }
  /// Summaries of all runs in a folder.
  std::vector<std::string> results(const char* out) const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(scratch_ / out)) {
      if (entry.is_directory()) all.push_back(support::lasting(support::summary_of(entry)).dump());
    }
    std::ranges::sort(all);
    return all;
  }

  support::Scratch scratch_;
  const DispatchOptions options_{.program = GetParam(), .threads = 1};
};

INSTANTIATE_TEST_SUITE_P(Dispatch, RunSweep, ::testing::Values("", HEARSAY_CLI),
                         [](const auto& test) {
                           return *test.param == '\0' ? "InThisProcess" : "InProcesses";
                         });

constexpr const char* kConsensus = R"(
title = "f"
seeds = [1, 2]
[base]
data = "consensus"
algorithm = "dsgd"
rounds = 20
evaluate = 10
)";

TEST_P(RunSweep, TrainsEveryRunOnceAndWritesTheRecord) {
  Notes first, second;
  const SweepOutcome outcome = run(kConsensus, "out", first);
  EXPECT_EQ(outcome.count(How::kFinished), 2U);
  EXPECT_FALSE(outcome.stopped);
  EXPECT_EQ(first.text(),
            (std::vector<std::string>{"+f, seed 1", "=f, seed 1", "+f, seed 2", "=f, seed 2"}));
  const std::string name = scratch_.path().filename().string() + "-f.sweep.json";
  const SweepRecord record = read_sweep_record(scratch_ / "out" / name);
  ASSERT_EQ(record.runs.size(), 1U);
  ASSERT_EQ(record.runs[0].size(), 2U);
  for (const fs::path& run : record.runs[0]) EXPECT_EQ(support::summary_of(run)["rounds"], 20);

  const auto before = support::contents(scratch_ / "out");
  EXPECT_EQ(run(kConsensus, "out", second).count(How::kFinished), 2U);
  EXPECT_EQ(second.text(), (std::vector<std::string>{"=f, seed 1", "=f, seed 2"}));
  EXPECT_EQ(support::contents(scratch_ / "out"), before);
}

TEST_P(RunSweep, SurvivesARunThatFails) {
  Notes notes;
  const SweepOutcome outcome = run(R"(
title = "t"
rows = [{label = "bad", data = "least-squares", lr = 1e30}, {label = "good", data = "consensus"}]
[base]
algorithm = "dsgd"
rounds = 20
)",
                                   "out", notes);
  EXPECT_EQ(notes.text(), (std::vector<std::string>{"+bad, seed 1", "!bad, seed 1", "+good, seed 1",
                                                    "=good, seed 1"}));
  ASSERT_EQ(outcome.ends.size(), 2U);
  EXPECT_TRUE(outcome.ends[0].message.starts_with("[train] the ")) << outcome.ends[0].message;
  EXPECT_NE(outcome.ends[0].message.find("; try --lr 1e+29"), std::string::npos)
      << outcome.ends[0].message;
  EXPECT_EQ(outcome.ends[1].message, "");

  // The record says why, until the run finishes; a call for other rows keeps it.
  const std::string name = scratch_.path().filename().string() + "-f.sweep.json";
  const SweepRecord record = read_sweep_record(scratch_ / "out" / name);
  const std::string bad = record.runs.at(0).at(0).filename().string();
  EXPECT_EQ(record.failed, (SweepRecord::Failures{{bad, outcome.ends[0].message}}));
  SweepOptions good{.rows = {"good"}};
  const Sweep part = read_sweep_file((scratch_ / "f.toml").string(), good);
  run_sweep(part, scratch_ / "out", options_, notes);
  EXPECT_EQ(read_sweep_record(scratch_ / "out" / name).failed, record.failed);
}

/// No checkpoint is due before the stop, so what is resumed was saved by it.
TEST_P(RunSweep, StoppedSavesAndTheSameCallGoesOn) {
  std::string text = kConsensus;
  text.replace(text.find("rounds = 20"), 11, "rounds = 200000\ncheckpoint = 1000000");
  text.replace(text.find("evaluate = 10"), 13, "evaluate = 50000");
  Notes unbroken, resumed;
  Stopper stopper;
  ASSERT_EQ(run(text, "unbroken", unbroken).count(How::kFinished), 2U);

  const SweepOutcome stopped = run(text, "stopped", stopper);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_EQ(stopped.count(How::kStopped), 2U);
  ASSERT_EQ(stopper.text().size(), 3U) << "the second run has not begun";
  EXPECT_EQ(stopper.text()[0], "+f, seed 1");

  EXPECT_EQ(run(text, "stopped", resumed).count(How::kFinished), 2U);
  EXPECT_EQ(resumed.text(),
            (std::vector<std::string>{"~f, seed 1", "=f, seed 1", "+f, seed 2", "=f, seed 2"}));
  EXPECT_EQ(results("stopped"), results("unbroken"));
}

TEST_P(RunSweep, DoesNotDisturbARunOfAnotherProcess) {
  support::write_text(scratch_ / "f.toml", kConsensus);
  const Sweep sweep = read_sweep_file((scratch_ / "f.toml").string());
  const std::vector<SweepRun> runs = prepare_sweep(sweep, scratch_ / "out", options_);
  fs::create_directories(runs[0].out);
  support::write_text(runs[0].out / "config.toml", runs[0].config.to_toml());
  run::RunLock lock;
  lock.take(runs[0].out / "config.toml");
  Stopper stopper;  // of the other run, or processes would wait for this one
  const SweepOutcome outcome = train_runs(runs, options_, stopper);
  EXPECT_EQ(outcome.ends[0].how, How::kElsewhere);
  EXPECT_FALSE(fs::exists(runs[0].out / "metrics.jsonl"));
}

TEST(SweepDispatch, RefusesBeforeAnythingIsWritten) {
  const support::Scratch scratch;
  Sweep sweep = read_sweep(kConsensus, "f.toml");
  const auto refusal = [&](const DispatchOptions& options) -> std::string {
    try {
      prepare_sweep(sweep, scratch / "out", options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({.program = "/no/hearsay"}),
            "[sweep] there is no program '/no/hearsay'; give the path of hearsay, or none to train "
            "in this process");
  EXPECT_EQ(refusal({.jobs = 0}), "[sweep] --jobs must be at least 1, got 0");
  EXPECT_EQ(refusal({.jobs = 2}),
            "[sweep] several jobs need processes of their own; give the path of the program "
            "hearsay");
  for (train::RunOptions& config : sweep.rows[0].configs) config.set("device", "cuda");
  EXPECT_EQ(refusal({.program = HEARSAY_CLI, .jobs = 2}),
            "[sweep] --jobs is for the CPU; on a GPU runs that fit together go side by side "
            "anyway");
  for (train::RunOptions& config : sweep.rows[0].configs) {
    config.set("device", "cpu");
    config.set("compare", "yes");
  }
  EXPECT_EQ(refusal({}),
            "[train] f, seed 1 asks for compare = yes, which is for one run at a time; train it "
            "alone, or drop that");
  sweep.rows[0].wanted = false;
  EXPECT_EQ(refusal({}), "[f.toml] no row can be run: there is none");
  EXPECT_FALSE(fs::exists(scratch / "out"));
}

TEST(TimeLeftTest, IsKnownOnceSomethingIsDone) {
  const support::Scratch scratch;
  const Sweep sweep = read_sweep(kConsensus, "f.toml");
  const std::vector<SweepRun> runs = runs_of(sweep, scratch.path()).runs;
  TimeLeft left(runs);
  EXPECT_TRUE(std::isinf(left.seconds()));
  left.began(runs[0]);
  EXPECT_TRUE(std::isinf(left.seconds()));
  left.ended(runs[0], How::kStopped);
  left.began(runs[0]);
  left.ended(runs[0], How::kFinished);
  EXPECT_GT(left.seconds(), 0) << "as long as the first took";
  EXPECT_LT(left.seconds(), 60);
  left.ended(runs[1], How::kFinished);  // by another process
  EXPECT_EQ(left.seconds(), 0);
}

}  // namespace
}  // namespace hearsay::sweep
