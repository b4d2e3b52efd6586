#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "cli/process.h"
#include "train/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

/// Runs that are told to stop by a signal, as Ctrl-C sends it.
class Stopped : public ::testing::Test {
 protected:
  static std::vector<std::string> arguments(const char* out, const char* rounds) {
    return {"train",
            "--algorithm",
            "scsp",
            "--peers",
            "5",
            "--data",
            "least-squares:dim=50,noise=0.1",
            "--lr",
            "0.02",
            "--rounds",
            rounds,
            "--checkpoint",
            "1000000",
            "--evaluate",
            "1000000",
            "--threads",
            "1",
            "--out",
            out};
  }

  static void wait_for(const fs::path& file) {
    for (int waited = 0; !fs::exists(file) && waited < 60'000; ++waited) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// Start a run, send the signal soon after its first evaluation, return its exit status.
  int stop_with(int number, const char* out, const char* rounds) {
    Child child(arguments(out, rounds), scratch_.path(), scratch_ / "said", scratch_ / "errors");
    wait_for(scratch_ / out / "metrics.jsonl");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    child.signal(number);
    return child.wait();
  }

  train::Scratch scratch_;
};

/// The run has no checkpoint but the one that the signal asked for.
TEST_F(Stopped, GoesOnToTheSameModels) {
  for (const int number : {SIGINT, SIGTERM}) {
    const std::string out = number == SIGINT ? "inter rupted" : "terminated";
    const std::string quoted = number == SIGINT ? "'inter rupted'" : "terminated";
    ASSERT_EQ(stop_with(number, out.c_str(), "20000"), 130);
    const std::string errors = train::read_text(scratch_ / "errors");
    EXPECT_TRUE(errors.starts_with("hearsay: stopped at round ")) << errors;
    EXPECT_TRUE(errors.ends_with("; go on with: hearsay train --resume " + quoted + "\n"))
        << errors;
    EXPECT_NE(train::read_text(scratch_ / "said").find("to optimum"), std::string::npos)
        << "a table of what was reached";
    EXPECT_FALSE(fs::exists(scratch_ / out / "summary.json"));
    EXPECT_TRUE(fs::exists(scratch_ / out / "report.html"));

    const Result resumed = hearsay({"train", "--resume", out}, scratch_.path());
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(resumed.out.find("going on from round 0\n"), std::string::npos) << resumed.out;
  }
  ASSERT_EQ(hearsay(arguments("unbroken", "20000"), scratch_.path()).status, 0);
  for (const char* out : {"inter rupted", "terminated"}) {
    EXPECT_EQ(train::lasting(train::summary_of(scratch_ / out)),
              train::lasting(train::summary_of(scratch_ / "unbroken")));
    EXPECT_EQ(train::metrics_of(scratch_ / out), train::metrics_of(scratch_ / "unbroken"));
    EXPECT_EQ(train::contents(scratch_ / out / "models"),
              train::contents(scratch_ / "unbroken/models"));
  }
}

/// A round of a million unknowns takes long enough for a second signal to find it unfinished.
TEST_F(Stopped, TheSecondSignalKills) {
  Child child({"train", "--data", "consensus:dim=1000000", "--peers", "8", "--graph", "complete",
               "--algorithm", "sgp", "--rounds", "100000", "--threads", "1", "--out", "run"},
              scratch_.path(), scratch_ / "said", scratch_ / "errors");
  wait_for(scratch_ / "run/metrics.jsonl");
  child.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), -SIGINT);
}

}  // namespace
}  // namespace hearsay::cli
