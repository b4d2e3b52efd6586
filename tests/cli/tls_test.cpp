/// Processes of one run in lock step, over TLS on 127.x.y.z.
#include <csignal>

#include <array>
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/process.h"
#include "support/scratch.h"
#include "support/tls_transports.h"

namespace hearsay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kProcesses = 4;

class LockStepOverTls : public ::testing::Test {
 protected:
  LockStepOverTls() {
    std::string text;
    for (const net::FleetPeer& peer : all_.fleet.peers) {
      text += net::to_toml(peer);
      all_.keys[&peer - all_.fleet.peers.data()].write_new(scratch_ / (peer.name + ".pem"));
    }
    support::write_text(scratch_ / "fleet.toml", text);
  }

  static Words run_into(const std::string& out, const Words& more = {}) {
    Words words{"train",       "--data",   "least-squares:dim=50,noise=0.1",
                "--algorithm", "choco",    "--peers",
                "5",           "--lr",     "0.02",
                "--out",       out,        "--threads",
                "1",           "--quiet",  "--checkpoint",
                "5",           "--rounds", "700"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void start(const Words& words) {
    for (std::size_t k = 0; k < kProcesses; ++k) {
      Words all = words;
      all.insert(all.end(),
                 {"--transport", fmt::format("tls:fleet=fleet.toml,identity=n{}.pem,wait=30", k)});
      processes_[k] = std::make_unique<Child>(all, scratch_.path(), file("out", k), file("err", k));
    }
  }
  std::string error_of(std::size_t k) { return support::read_text(file("err", k)); }
  Child& process(std::size_t k) { return *processes_[k]; }

  support::Scratch scratch_;

 private:
  fs::path file(const char* what, std::size_t k) const {
    return scratch_ / fmt::format("{}-{}", what, k);
  }

  support::TlsFleet all_{kProcesses};
  std::array<std::unique_ptr<Child>, kProcesses> processes_;
};

TEST_F(LockStepOverTls, ADeathEndsTheRunWhichGoesOnToTheModelsOfTheSimulation) {
  ASSERT_EQ(hearsay(run_into("alone"), scratch_.path()).status, 0);
  start(run_into("together"));
  for (int waited = 0; !fs::exists(scratch_ / "together/checkpoint") && waited < 60'000; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process(2).kill();
  EXPECT_EQ(process(2).wait(), -SIGKILL);
  const auto begin = std::chrono::steady_clock::now();
  for (const std::size_t k : {0u, 1u, 3u}) {
    EXPECT_EQ(process(k).wait(), 1);
    // Others that ended for that reason may be named before it.
    const std::string error = error_of(k);
    EXPECT_TRUE(error.find("n2 is gone, and the run needs everybody") != error.npos ||
                (error.find("n2") != error.npos &&
                 error.find("are gone, and the run needs everybody") != error.npos))
        << error;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));

  start({"train", "--resume", "together", "--quiet"});
  for (std::size_t k = 0; k < kProcesses; ++k) EXPECT_EQ(process(k).wait(), 0) << error_of(k);
  EXPECT_EQ(support::summary_of(scratch_ / "together")["transport"], "tls");
  EXPECT_EQ(support::lasting(support::summary_of(scratch_ / "together")),
            support::lasting(support::summary_of(scratch_ / "alone")));
  EXPECT_EQ(support::contents(scratch_ / "together/models"),
            support::contents(scratch_ / "alone/models"));
}

}  // namespace
}  // namespace hearsay::cli
