#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <optional>
#include <thread>

#include "cli/process.h"
#include "hearsay/core/random.h"
#include "hearsay/run/run_lock.h"
#include "support/scratch.h"

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
  BrokenSweep() { support::write_text(scratch_ / "f.toml", kFile); }

  Words arguments(const char* out) const {
    return {"sweep", "f.toml", "--jobs", "2", "--out", out, "--quiet"};
  }
  /// Every run with everything that must be the same in the end.
  std::vector<std::pair<std::string, std::string>> results(const char* out) const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& entry : fs::directory_iterator(scratch_ / out)) {
      if (!entry.is_directory()) continue;
      all.emplace_back(entry.path().filename().string(),
                       support::lasting(support::summary_of(entry.path())).dump());
    }
    std::ranges::sort(all);
    return all;
  }
  bool anybody_trains(const char* out) const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(scratch_ / out, error)) {
      if (entry.is_directory() && run::is_being_trained(entry.path())) return true;
    }
    return false;
  }
  void wait_for_a_run(const char* out, const Child& sweep) const {
    while (!anybody_trains(out) && !sweep.ended()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::size_t finished(const char* out) const {
    std::size_t number = 0;
    for (const auto& entry : fs::directory_iterator(scratch_ / out)) {
      if (fs::exists(entry.path() / "summary.json")) ++number;
    }
    return number;
  }
  /// Suspends the first job of a sweep (SIGSTOP) and returns it; 0 if it had already begun its run.
  static pid_t hold_job(const Child& sweep, const fs::path& run) {
    std::vector<pid_t> jobs;
    while (jobs.empty() && !sweep.ended()) jobs = children_of(sweep.pid());
    if (jobs.empty()) return 0;
    const pid_t job = jobs.front();
    ::kill(job, SIGSTOP);
    while (lives(job) && !is_held(job)) std::this_thread::yield();
    if (is_held(job) && !fs::exists(run / "config.toml")) return job;
    ::kill(job, SIGCONT);
    return 0;
  }

  support::Scratch scratch_;
};

/// Killed at five random times, and again each time it is resumed; its runs die with it.
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
    std::optional<Child> child;
    for (;;) {
      child.emplace(arguments(out), scratch_.path(), scratch_ / "said", scratch_ / "errors");
      wait_for_a_run(out, *child);
      if (child->hold() && finished(out) < 6) break;
      child->signal(SIGCONT);
      ASSERT_EQ(child->wait(), 0) << support::read_text(scratch_ / "errors");
      fs::remove_all(scratch_ / out);  // too late: try again
    }
    child->signal(number);  // to the sweep only: it forwards it to its runs
    child->signal(SIGCONT);
    EXPECT_EQ(child->wait(), 130);
    EXPECT_EQ(support::read_text(scratch_ / "errors"),
              "hearsay: stopped; the same command goes on\n");
    EXPECT_FALSE(anybody_trains(out));
    EXPECT_EQ(hearsay(arguments(out), scratch_.path()).status, 0);
  }
  EXPECT_EQ(results("interrupted"), results("terminated"));
}

/// As a terminal does on Ctrl-C, and a scheduler that ends a job: the sweep and its whole process
/// group. Nothing is saved before that, so what is there was saved at the stop.
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
  wait_for_a_run("shared", other);
  const Result mine = hearsay(words, scratch_.path());
  EXPECT_EQ(other.wait(), 0) << support::read_text(scratch_ / "errors");
  EXPECT_EQ(mine.status, 0) << mine.err;
  EXPECT_EQ(mine.err, "");
  EXPECT_EQ(results("shared").size(), 6U);
  const std::string theirs = support::read_text(scratch_ / "said");
  EXPECT_EQ(mine.out.substr(mine.out.find("Rates\n")), theirs.substr(theirs.find("Rates\n")));
  EXPECT_NE(theirs.find("   6 of 6: "), std::string::npos) << "counts those of the other:\n"
                                                           << theirs;
}

/// Two sweeps have seen that no process trains a run, and start it at the same time. The other one,
/// which is this test, comes first, and has finished it, or was killed, when ours finds the
/// directory taken.
TEST_F(BrokenSweep, ARunThatAnotherBeganMeanwhileIsNoFailure) {
  const auto one_run = [&](const char* out) {
    Words words = arguments(out);
    words.insert(words.end(), {"--row", "a", "--seeds", "1"});
    return words;
  };
  ASSERT_EQ(hearsay(one_run("alone"), scratch_.path()).status, 0);
  const auto expected = results("alone");
  ASSERT_EQ(expected.size(), 1U);
  const std::string& name = expected.front().first;

  for (const char* out : {"begun", "finished"}) {
    SCOPED_TRACE(out);
    const fs::path run = scratch_ / out / name;
    std::optional<Child> sweep;
    pid_t job = 0;
    for (;;) {
      sweep.emplace(one_run(out), scratch_.path(), scratch_ / "said", scratch_ / "errors");
      job = hold_job(*sweep, run);
      if (job != 0) break;
      ASSERT_EQ(sweep->wait(), 0) << support::read_text(scratch_ / "errors");
      fs::remove_all(scratch_ / out);  // too late: try again
    }
    fs::create_directories(run);
    if (std::string(out) == "finished") {
      fs::copy(scratch_ / "alone" / name, run, fs::copy_options::recursive);
    } else {
      fs::copy(scratch_ / "alone" / name / "config.toml", run);
    }
    ASSERT_EQ(::kill(job, SIGCONT), 0);
    EXPECT_EQ(sweep->wait(), 0);
    EXPECT_EQ(support::read_text(scratch_ / "errors"), "");
    EXPECT_EQ(results(out), expected);
  }
}

}  // namespace
}  // namespace hearsay::cli
