/// A rank of an mpirun is killed: the run ends within 10 s with a message that names the rank and a
/// nonzero status, and resumes from its last checkpoint with bit-identical results, in as many
/// processes, in fewer, or in one.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "cli/mpirun.h"
#include "hearsay/core/random.h"
#include "support/scratch.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kRanks = 4;

/// The process with that rank, if the launcher has started it and it is still alive.
std::optional<pid_t> process_of(pid_t launcher, int rank) {
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", launcher));
  for (pid_t child = 0; children >> child;) {
    const std::string environment = support::read_text(fmt::format("/proc/{}/environ", child));
    const std::string wanted = fmt::format("OMPI_COMM_WORLD_RANK={}", rank);
    if (environment.find(wanted + '\0') != std::string::npos) return child;
  }
  return {};
}

class KilledRank : public ::testing::TestWithParam<int> {
 protected:
  static Words arguments(const std::string& algorithm, const std::string& out) {
    return {"train",
            "--algorithm",
            algorithm,
            "--peers",
            "5",
            "--data",
            "least-squares:dim=50,noise=0.1",
            "--lr",
            "0.02",
            "--rounds",
            "3000",
            "--checkpoint",
            "5",
            "--evaluate",
            "70",
            "--threads",
            "1",
            "--out",
            out,
            "--quiet"};
  }

  struct Death {
    int status = 0;
    Seconds after{0};  ///< from the kill to the end of mpirun
    std::string err;
  };

  /// Runs into DIR/killed, and kills that rank so long after the first file. Empty if the run had
  /// finished by then.
  std::optional<Death> kill(const Words& words, int rank, Seconds delay) {
    fs::remove_all(scratch_ / "killed");
    Child run(words, scratch_.path(), scratch_ / "out", scratch_ / "err", mpirun(kRanks));
    for (int waited = 0; !fs::exists(scratch_ / "killed/config.toml") && waited < 60'000;
         ++waited) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(delay);
    const auto process = process_of(run.pid(), rank);
    if (!process || ::kill(*process, SIGKILL) != 0) return {};
    const auto begin = Clock::now();
    Death death;
    death.status = run.wait();
    death.after = Clock::now() - begin;
    death.err = support::read_text(scratch_ / "err");
    if (fs::exists(scratch_ / "killed/summary.json")) return {};
    return death;
  }

  support::Scratch scratch_;
};

TEST_P(KilledRank, EndsTheRunWhichGoesOnToTheSameModels) {
  static const char* const kAlgorithms[] = {"sparse-push", "choco", "sgp:overlap=1", "dsgd",
                                            "slowmo"};
  const auto number = static_cast<std::uint32_t>(GetParam());
  const std::string algorithm = kAlgorithms[number % std::size(kAlgorithms)];
  Random random(2025, Purpose::kTest, number);
  const int rank = static_cast<int>(random.below(kRanks));

  const auto begin = Clock::now();
  ASSERT_EQ(hearsay(arguments(algorithm, "unbroken"), scratch_.path(), mpirun(kRanks)).status, 0);
  Seconds delay = (Clock::now() - begin) * random.uniform();
  std::optional<Death> death;
  while (!(death = kill(arguments(algorithm, "killed"), rank, delay))) delay /= 2;

  EXPECT_NE(death->status, 0);
  EXPECT_LT(death->after.count(), 10.0);
  EXPECT_NE(death->err.find(fmt::format("rank {} ", rank)), std::string::npos) << death->err;

  const Words launcher = number % 3 == 0 ? mpirun(kRanks) : number % 3 == 1 ? mpirun(2) : Words{};
  const Result resumed =
      hearsay({"train", "--resume", "killed", "--quiet"}, scratch_.path(), launcher);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(support::lasting(support::summary_of(scratch_ / "killed")),
            support::lasting(support::summary_of(scratch_ / "unbroken")));
  EXPECT_EQ(support::metrics_of(scratch_ / "killed"), support::metrics_of(scratch_ / "unbroken"));
  EXPECT_EQ(support::contents(scratch_ / "killed/models"),
            support::contents(scratch_ / "unbroken/models"));
}

INSTANTIATE_TEST_SUITE_P(Times, KilledRank, ::testing::Range(0, 10));

}  // namespace
}  // namespace hearsay::cli
