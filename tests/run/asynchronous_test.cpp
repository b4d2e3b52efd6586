#include "hearsay/run/asynchronous.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/run/compare.h"
#include "hearsay/run/fleet.h"
#include "support/message_of.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

using support::Scratch;

/// Digits on eight asynchronous peers of which two die, with all faults.
train::RunOptions asynchronous_config() {
  return support::config_of({{"timing", "asynchronous"},
                             {"peers", "8"},
                             {"graph", "exponential"},
                             {"rounds", "60"},
                             {"evaluate", "15"},
                             {"model", "logistic"},
                             {"link",
                              "speeds=4,loss=0.1,duplicate=0.1,delay=0.05,kill=2@0.3,"
                              "back=0.6,cut=0.7..0.8"}});
}

std::vector<nlohmann::json> lines_of(const std::filesystem::path& run) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(read_file(run / "metrics.jsonl"));
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(AsynchronousRun, WritesARunDirectory) {
  Scratch scratch;
  Observer silent;
  const Outcome outcome = run(asynchronous_config(), scratch / "a", silent);
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.last.asynchronous.live, 8);
  EXPECT_GT(outcome.last.find("accuracy")->mean, 60);
  const std::vector<nlohmann::json> lines = lines_of(scratch / "a");
  ASSERT_GE(lines.size(), 5u);
  const nlohmann::json& dead = lines[2];  // near half of the run
  EXPECT_EQ(dead["live_peers"], 6);
  EXPECT_EQ(dead["accuracy"].size(), 8u);
  std::size_t gaps = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    gaps += dead["accuracy"][i].is_null();
    EXPECT_EQ(dead["accuracy"][i].is_null(), dead["rates"][i].is_null());
  }
  EXPECT_EQ(gaps, 2u);
  for (const nlohmann::json& line : lines) EXPECT_LT(line["mass_drift"], 1e-12);
  const nlohmann::json& last = lines.back();
  EXPECT_GT(last["messages_taken_back"], 0);
  EXPECT_GT(last["wire_bytes_total"], last["bytes_total"]);
  EXPECT_GT(last["simulated_seconds"], 60 * 0.1);
  const auto summary = nlohmann::json::parse(read_file(scratch / "a" / "summary.json"));
  EXPECT_EQ(summary["bytes_by_peer"].size(), 8u);
  for (int peer = 0; peer < 8; ++peer) {
    const auto file = scratch / "a" / "models" / ("peer-" + std::to_string(peer) + ".safetensors");
    EXPECT_TRUE(std::filesystem::exists(file));
  }
}

/// Asks to stop when a round is reached.
class StopsAt : public Observer {
 public:
  explicit StopsAt(std::uint64_t round) : round_(round) {}
  void progressed(const train::RunView& run) override { stop_ |= run.round() >= round_; }
  bool stop_requested() override { return stop_; }

 private:
  std::uint64_t round_;
  bool stop_ = false;
};

TEST(AsynchronousRun, IsRepeatedWhenItIsResumed) {
  Scratch scratch;
  Observer silent;
  const Outcome whole = run(asynchronous_config(), scratch / "whole", silent);
  StopsAt stops(20);
  const Outcome stopped = run(asynchronous_config(), scratch / "stopped", stops);
  EXPECT_FALSE(stopped.finished);
  EXPECT_FALSE(std::filesystem::exists(scratch / "stopped" / "summary.json"));
  const Outcome resumed = resume(scratch / "stopped", 3, silent);
  EXPECT_TRUE(resumed.finished);
  const auto sha = [](const Outcome& outcome) {
    return nlohmann::json::parse(outcome.summary_json)["models_sha256"];
  };
  EXPECT_EQ(sha(resumed), sha(whole));
  EXPECT_EQ(lines_of(scratch / "stopped").size(), lines_of(scratch / "whole").size());
  EXPECT_GT(stopped.last.seconds + resumed.last.seconds, 0);
  const auto before = support::contents(scratch / "whole");
  EXPECT_NE(support::message_of([&] { resume(scratch / "whole", 0, silent); }).find("has finished"),
            std::string::npos);
  EXPECT_EQ(support::contents(scratch / "whole"), before);
}

TEST(AsynchronousRun, OutlivesPeersThatDoNotReturn) {
  Scratch scratch;
  Observer silent;
  train::RunOptions config = asynchronous_config();
  config.link = "kill=7@0.2";
  const Outcome outcome = run(config, scratch / "a", silent);
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.last.asynchronous.live, 1);
  EXPECT_TRUE(std::isfinite(outcome.last.loss));
}

TEST(AsynchronousRun, IsAFleetOfItsOwn) {
  Scratch scratch;
  Observer silent;
  const FleetRun member{asynchronous_config(), scratch / "fleet", &silent};
  const std::vector<FleetOutcome> outcomes = run_fleet({&member, 1});
  ASSERT_TRUE(outcomes[0].outcome);
  EXPECT_EQ(outcomes[0].outcome->last.asynchronous.live, 8);
  const FleetRun both[] = {member, {asynchronous_config(), scratch / "other", &silent}};
  EXPECT_THROW(run_fleet({both, 2}), InvalidArgument);
}

TEST(AsynchronousRun, TrainsTheSilentBaselineInLockStep) {
  for (const Control& control : controls(asynchronous_config())) {
    const bool is_silent = control.config.algorithm == "silent";
    EXPECT_EQ(control.config.timing, is_silent ? "lock-step" : "asynchronous");
    EXPECT_EQ(control.config.link == "none", is_silent);
  }
}

TEST(AsynchronousRun, RefusesWhatItCannotSimulate) {
  Scratch scratch;
  Observer silent;
  const auto refusal = [&](const char* key, const char* value) -> std::string {
    train::RunOptions config = asynchronous_config();
    config.set(key, value);
    try {
      run(config, scratch / "a", silent);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("device", "cuda"),
            "[timing] asynchronous peers are simulated on the cpu, not on cuda; drop --device");
  EXPECT_EQ(
      refusal("algorithm", "choco"),
      "[choco] needs rounds in lock step; of asynchronous peers use sgp, sparse-push or scsp");
  EXPECT_NE(refusal("graph", "torus:2x4").find("there is no torus:2x4 of 7 peers"),
            std::string::npos);
  EXPECT_NE(refusal("link", "latency=1").find("[link]"), std::string::npos);
  train::RunOptions lock_step;
  lock_step.link = "speeds=4";
  EXPECT_NE(support::message_of([&] {
              run(lock_step, scratch / "a", silent);
            }).find("need --timing asynchronous"),
            std::string::npos);
  EXPECT_NE(refusal("checkpoint", "10").find("have no checkpoints"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch / "a"));
}

}  // namespace
}  // namespace hearsay::run
