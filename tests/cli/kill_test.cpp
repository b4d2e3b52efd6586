#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "cli/process.h"
#include "hearsay/core/random.h"
#include "support/every_algorithm.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

/// Every method of the registry, killed once while it trains: more than twenty kills.
class Killed : public ::testing::TestWithParam<algorithm::Entry> {
 protected:
  std::vector<std::string> arguments(const char* out) const {
    using Compression = algorithm::Needs::Compression;
    const algorithm::Needs& needs = GetParam().needs;
    return {"train",
            "--algorithm",
            std::string(GetParam().example),
            "--peers",
            "5",
            "--data",
            "least-squares:dim=50,noise=0.1",
            "--lr",
            "0.02",
            "--compressor",
            needs.compression == Compression::kContractive ? "topk:keep=0.1" : "identity",
            "--rounds",
            "400",
            "--checkpoint",
            "5",
            "--evaluate",
            "7",
            "--threads",
            "1",
            "--out",
            out,
            "--quiet"};
  }

  /// Starts a run into DIR/killed, lets it run for that long after its first file, and kills it.
  /// Returns its wait status.
  int kill_after(Seconds delay) {
    fs::remove_all(scratch_ / "killed");
    Child child(arguments("killed"), scratch_.path(), scratch_ / "out", scratch_ / "err");
    for (int waited = 0; !fs::exists(scratch_ / "killed/config.toml") && waited < 60'000;
         ++waited) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(delay);
    child.kill();
    return child.wait();
  }

  support::Scratch scratch_;
};

TEST_P(Killed, GoesOnToTheSameModels) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(hearsay(arguments("unbroken"), scratch_.path()).status, 0);
  const Seconds duration = std::chrono::steady_clock::now() - begin;

  const auto stream = static_cast<std::uint32_t>(std::hash<std::string_view>{}(GetParam().name));
  Random random(2024, Purpose::kTest, stream);
  Seconds delay = duration * random.uniform();
  while (kill_after(delay) != -SIGKILL || fs::exists(scratch_ / "killed/summary.json")) {
    delay /= 2;  // it had already finished
  }

  const Result resumed = hearsay({"train", "--resume", "killed", "--quiet"}, scratch_.path());
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(support::lasting(support::summary_of(scratch_ / "killed")),
            support::lasting(support::summary_of(scratch_ / "unbroken")));
  EXPECT_EQ(support::metrics_of(scratch_ / "killed"), support::metrics_of(scratch_ / "unbroken"));
}

INSTANTIATE_TEST_SUITE_P(Registry, Killed, ::testing::ValuesIn(algorithm::registry()),
                         support::name_of);

}  // namespace
}  // namespace hearsay::cli
