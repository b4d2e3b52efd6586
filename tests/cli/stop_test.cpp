#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "cli/process.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

/// Runs that are stopped by a signal, as from Ctrl-C.
class Stopped : public ::testing::Test {
 protected:
  static constexpr std::size_t kRounds = 20000, kEvaluate = 100;

  static Words arguments(const std::string& out) {
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
            std::to_string(kRounds),
            "--checkpoint",
            "1000000",
            "--evaluate",
            std::to_string(kEvaluate),
            "--threads",
            "1",
            "--out",
            out};
  }

  /// Evaluations that a run has written.
  std::size_t evaluations(const std::string& out) const {
    return static_cast<std::size_t>(
        std::ranges::count(support::read_text(scratch_ / out / "metrics.jsonl"), '\n'));
  }

  void wait_for_evaluations(std::size_t number, const std::string& out, const Child& child) const {
    while (evaluations(out) < number && !child.ended()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// Starts a run, sends the signal after its second evaluation but in its first half, returns its
  /// exit status.
  int stop_with(int number, const std::string& out) {
    for (;;) {
      Child child(arguments(out), scratch_.path(), scratch_ / "said", scratch_ / "errors");
      wait_for_evaluations(2, out, child);
      child.hold();
      if (evaluations(out) < kRounds / kEvaluate / 2) {
        child.signal(number);
        child.signal(SIGCONT);
        return child.wait();
      }
      child.kill();  // too late: try again
      child.wait();
      fs::remove_all(scratch_ / out);
    }
  }

  support::Scratch scratch_;
};

/// The run has no checkpoint but the one made on the signal.
TEST_F(Stopped, GoesOnToTheSameModels) {
  for (const int number : {SIGINT, SIGTERM}) {
    const std::string out = number == SIGINT ? "inter rupted" : "terminated";
    const std::string quoted = number == SIGINT ? "'inter rupted'" : "terminated";
    ASSERT_EQ(stop_with(number, out), 130);
    const std::string errors = support::read_text(scratch_ / "errors");
    EXPECT_TRUE(errors.starts_with("hearsay: stopped at round ")) << errors;
    EXPECT_TRUE(errors.ends_with("; go on with: hearsay train --resume " + quoted + "\n"))
        << errors;
    EXPECT_NE(support::read_text(scratch_ / "said").find("to optimum"), std::string::npos)
        << "a table of what was reached";
    EXPECT_FALSE(fs::exists(scratch_ / out / "summary.json"));
    EXPECT_TRUE(fs::exists(scratch_ / out / "report.html"));

    const Result resumed = hearsay({"train", "--resume", out}, scratch_.path());
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(resumed.out.find("going on from round 0\n"), std::string::npos) << resumed.out;
  }
  ASSERT_EQ(hearsay(arguments("unbroken"), scratch_.path()).status, 0);
  for (const char* out : {"inter rupted", "terminated"}) {
    EXPECT_EQ(support::lasting(support::summary_of(scratch_ / out)),
              support::lasting(support::summary_of(scratch_ / "unbroken")));
    EXPECT_EQ(support::metrics_of(scratch_ / out), support::metrics_of(scratch_ / "unbroken"));
    EXPECT_EQ(support::contents(scratch_ / out / "models"),
              support::contents(scratch_ / "unbroken/models"));
  }
}

/// A full pipe: writing to it blocks forever.
class FullPipe {
 public:
  explicit FullPipe(const fs::path& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    while (::write(descriptor_, "x", 1) == 1) {
    }
  }
  ~FullPipe() { ::close(descriptor_); }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

 private:
  int descriptor_ = -1;
};

/// Whether a process has a handler for the signal now.
bool catches(pid_t process, int number) {
  std::ifstream in(fmt::format("/proc/{}/status", process));
  const std::string key = "SigCgt:";
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    return ((std::stoull(line.substr(key.size()), nullptr, 16) >> (number - 1)) & 1) != 0;
  }
  return false;
}

/// A run that stops ends by printing so. This one cannot, so the second signal arrives before it
/// has ended, in its round or after it. It is sent after the first one was delivered: two pending
/// signals of a kind are merged into one.
TEST_F(Stopped, TheSecondSignalKills) {
  const FullPipe errors(scratch_ / "errors");
  Child child(
      {"train", "--data", "consensus:dim=1000000", "--peers", "8", "--graph", "complete",
       "--algorithm", "sgp", "--rounds", "100000", "--threads", "1", "--out", "run", "--quiet"},
      scratch_.path(), scratch_ / "said", scratch_ / "errors");
  wait_for_evaluations(1, "run", child);
  ASSERT_TRUE(catches(child.pid(), SIGINT));
  child.signal(SIGINT);
  while (catches(child.pid(), SIGINT)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), -SIGINT);
}

}  // namespace
}  // namespace hearsay::cli
