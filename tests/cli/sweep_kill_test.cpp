#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "cli/process.h"
#include "hearsay/core/random.h"
#include "hearsay/train/run_lock.h"
#include "train/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

constexpr const char* kFile = R"(
title = "Rates"
seeds = [1, 2]
figures = [{name = "loss", key = "loss", digits = 8}]
rows = [{label = "a", lr = 0.01}, {label = "b", lr = 0.02}, {label = "c", lr = 0.03}]
[base]
data = "least-squares:dim=50,noise=0.1"
algorithm = "scsp"
peers = 5
rounds = 400
checkpoint = 5
evaluate = 7
)";

class BrokenSweep : public ::testing::Test {
 protected:
  BrokenSweep() { train::write_text(scratch_ / "f.toml", kFile); }

  Words arguments(const char* out) const {
    return {"sweep", "f.toml", "--jobs", "2", "--out", out, "--quiet"};
  }
  /// Every run with all that must be the same in the end.
  std::vector<std::pair<std::string, std::string>> results(const char* out) const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& entry : fs::directory_iterator(scratch_ / out)) {
      if (!entry.is_directory()) continue;
      all.emplace_back(entry.path().filename().string(),
                       train::lasting(train::summary_of(entry.path())).dump());
    }
    std::ranges::sort(all);
    return all;
  }
  bool anybody_trains(const char* out) const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(scratch_ / out, error)) {
      if (entry.is_directory() && train::is_being_trained(entry.path())) return true;
    }
    return false;
  }
  void wait_for_a_run(const char* out) const {
    for (int waited = 0; !anybody_trains(out) && waited < 60'000; ++waited) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  train::Scratch scratch_;
};

/// Killed at five random times, and once more each time it goes on; its runs die with it.
TEST_F(BrokenSweep, KilledGoesOnToTheSameTable) {
  const auto begin = std::chrono::steady_clock::now();
  const Result unbroken = hearsay(arguments("unbroken"), scratch_.path());
  ASSERT_EQ(unbroken.status, 0) << unbroken.err;
  const Seconds duration = std::chrono::steady_clock::now() - begin;

  Random random(2024, Purpose::kTest, 6);
  for (int kill = 0; kill < 5; ++kill) {
    Child child(arguments("broken"), scratch_.path(), scratch_ / "said", scratch_ / "errors");
    std::this_thread::sleep_for(duration * random.uniform() / 3);
    child.kill();
    child.wait();
    for (int waited = 0; anybody_trains("broken"); ++waited) {
      ASSERT_LT(waited, 60'000) << "a run outlived its sweep";
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  const Result resumed = hearsay(arguments("broken"), scratch_.path());
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, unbroken.out);
  EXPECT_EQ(results("broken"), results("unbroken"));
}

TEST_F(BrokenSweep, StoppedSavesAndGoesOn) {
  for (const int number : {SIGINT, SIGTERM}) {
    const char* out = number == SIGINT ? "interrupted" : "terminated";
    Child child(arguments(out), scratch_.path(), scratch_ / "said", scratch_ / "errors");
    wait_for_a_run(out);
    child.signal(number);  // to the sweep alone: it tells its runs
    EXPECT_EQ(child.wait(), 130);
    EXPECT_EQ(train::read_text(scratch_ / "errors"),
              "hearsay: stopped; the same command goes on\n");
    EXPECT_FALSE(anybody_trains(out));
    EXPECT_EQ(hearsay(arguments(out), scratch_.path()).status, 0);
  }
  EXPECT_EQ(results("interrupted"), results("terminated"));
}

/// As a terminal does on Ctrl-C, and a scheduler that ends a job: the sweep and all that belongs to
/// it. Nothing is saved on the way here, so what is there was saved at the stop.
TEST_F(BrokenSweep, StoppedWithItsWholeGroupSavesEveryRun) {
  for (const int number : {SIGINT, SIGTERM}) {
    const char* out = number == SIGINT ? "interrupted" : "terminated";
    Words words = arguments(out);
    for (const char* word : {"--rounds", "10000000", "--checkpoint", "10000000"}) {
      words.emplace_back(word);
    }
    Child child(words, scratch_.path(), scratch_ / "said", scratch_ / "errors", {"setsid"});
    const auto begun = [&] {
      std::vector<fs::path> runs;
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(scratch_ / out, error)) {
        if (fs::exists(entry.path() / "metrics.jsonl", error) &&
            fs::file_size(entry.path() / "metrics.jsonl") > 0) {
          runs.push_back(entry.path());
        }
      }
      return runs;
    };
    for (int waited = 0; begun().size() < 2 && waited < 60'000; ++waited) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::vector<fs::path> runs = begun();
    ASSERT_EQ(runs.size(), 2U);
    ASSERT_EQ(::killpg(child.pid(), number), 0);
    EXPECT_EQ(child.wait(), 130);
    for (const fs::path& run : runs) {
      EXPECT_TRUE(fs::exists(run / "checkpoint") && !fs::is_empty(run / "checkpoint")) << run;
    }
  }
}

TEST_F(BrokenSweep, TwoInOneFolderShareTheWork) {
  Words words = arguments("shared");
  words.pop_back();  // --quiet
  Child other(words, scratch_.path(), scratch_ / "said", scratch_ / "errors");
  wait_for_a_run("shared");
  const Result mine = hearsay(words, scratch_.path());
  EXPECT_EQ(other.wait(), 0) << train::read_text(scratch_ / "errors");
  EXPECT_EQ(mine.status, 0) << mine.err;
  EXPECT_EQ(mine.err, "");
  EXPECT_EQ(results("shared").size(), 6U);
  const std::string theirs = train::read_text(scratch_ / "said");
  EXPECT_EQ(mine.out.substr(mine.out.find("Rates\n")), theirs.substr(theirs.find("Rates\n")));
  EXPECT_NE(theirs.find("   6 of 6: "), std::string::npos) << "counts those of the other:\n"
                                                           << theirs;
}

}  // namespace
}  // namespace hearsay::cli
