#include "hearsay/run/fleet.h"

#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

namespace fs = std::filesystem;

/// Runs that differ in method, graph, compressor, seed, rounds and evaluation interval.
std::vector<train::RunOptions> different_runs() {
  return {
      support::quadratics({{"algorithm", "scsp:final=5"},
                           {"compressor", "topk:keep=0.2"},
                           {"lr", "0.02"},
                           {"rounds", "40"},
                           {"evaluate", "7"}}),
      support::quadratics(
          {{"algorithm", "dcd"}, {"rounds", "23"}, {"evaluate", "5"}, {"seed", "9"}}),
      support::quadratics({{"algorithm", "aga:period=4"}, {"rounds", "31"}, {"checkpoint", "3"}})};
}

std::vector<train::RunOptions> networks() {
  std::vector<train::RunOptions> configs;
  for (const char* seed : {"1", "2"}) {
    configs.push_back(support::config_of({{"data", "synthetic:shape=1x8x8,classes=3,samples=120"},
                                          {"model", "cnn:norm=batch"},
                                          {"batch", "4"},
                                          {"rounds", "12"},
                                          {"threads", "2"},
                                          {"seed", seed}}));
  }
  return configs;
}

std::vector<train::RunOptions> networks_in_eight_bits() {
  std::vector<train::RunOptions> configs = networks();
  for (train::RunOptions& config : configs) {
    config.model = "cnn:norm=range-evonorm";
    config.device = "cpu:precision=int8";
    config.precision = "int8";
    config.batch = 11;
    config = train::resolve(config);
  }
  return configs;
}

class FleetOf : public ::testing::TestWithParam<std::vector<train::RunOptions> (*)()> {};

TEST_P(FleetOf, RunsGivesEachWhatItGivesAlone) {
  support::Scratch scratch;
  Observer silent;
  std::vector<FleetRun> runs;
  for (const train::RunOptions& config : GetParam()()) {
    const std::string name = std::to_string(runs.size());
    run(config, scratch / ("alone" + name), silent);
    runs.push_back({config, scratch / ("fleet" + name), &silent});
  }
  for (const FleetOutcome& result : run_fleet(runs)) {
    EXPECT_EQ(result.error, "");
    ASSERT_TRUE(result.outcome);
    EXPECT_TRUE(result.outcome->finished);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const fs::path alone = scratch / ("alone" + std::to_string(i));
    EXPECT_EQ(support::contents(runs[i].out / "models"), support::contents(alone / "models")) << i;
    EXPECT_EQ(support::metrics_of(runs[i].out), support::metrics_of(alone)) << i;
    EXPECT_EQ(support::lasting(support::summary_of(runs[i].out)),
              support::lasting(support::summary_of(alone)))
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FleetOf,
                         ::testing::Values(different_runs, networks, networks_in_eight_bits),
                         [](const auto& kind) {
                           return kind.index == 0   ? "methods"
                                  : kind.index == 1 ? "networks"
                                                    : "networks_in_eight_bits";
                         });

TEST(Fleet, GoesOnWithoutARunThatFails) {
  support::Scratch scratch;
  Observer silent;
  const train::RunOptions good = support::quadratics({{"rounds", "40"}});
  const train::RunOptions bad = support::quadratics({{"lr", "1e30"}, {"rounds", "40"}});
  const auto results = run_fleet(
      std::vector<FleetRun>{{bad, scratch / "bad", &silent}, {good, scratch / "good", &silent}});
  EXPECT_NE(results[0].error.find("of peer 0"), std::string::npos) << results[0].error;
  EXPECT_FALSE(results[0].outcome);
  run(good, scratch / "alone", silent);
  EXPECT_EQ(support::contents(scratch / "good/models"),
            support::contents(scratch / "alone/models"));
}

TEST(Fleet, StopsTheRunThatIsAskedToAndItCanGoOnAlone) {
  struct StopAt9 : Observer {
    std::uint64_t done = 0;
    void progressed(const train::RunView& run) override { done = run.round(); }
    bool stop_requested() override { return done == 9; }
  } stopped;
  support::Scratch scratch;
  Observer silent;
  const train::RunOptions config = support::quadratics({{"rounds", "40"}});
  const auto results = run_fleet(std::vector<FleetRun>{{config, scratch / "stopped", &stopped},
                                                       {config, scratch / "whole", &silent}});
  EXPECT_FALSE(results[0].outcome->finished);
  EXPECT_EQ(results[0].outcome->round, 9u);
  EXPECT_TRUE(results[1].outcome->finished);
  resume(scratch / "stopped", 1, silent);
  EXPECT_EQ(support::contents(scratch / "stopped/models"),
            support::contents(scratch / "whole/models"));
}

TEST(Fleet, WritesNothingIfOneOfItsRunsCannotBegin) {
  support::Scratch scratch;
  Observer silent;
  const train::RunOptions good = support::quadratics({{"rounds", "4"}});
  run(good, scratch / "taken", silent);
  EXPECT_THROW(run_fleet(std::vector<FleetRun>{{good, scratch / "new", &silent},
                                               {good, scratch / "taken", &silent}}),
               AlreadyExists);
  EXPECT_FALSE(fs::exists(scratch / "new"));
}

train::RunOptions on(const std::string& device,
                     std::vector<std::pair<std::string, std::string>> more = {}) {
  more.insert(more.end(), {{"device", device}, {"threads", "1"}});
  return support::config_of(more);
}

TEST(FleetsOf, PutTogetherWhatAGpuCanDoAtOnce) {
  const std::vector<train::RunOptions> configs{
      on("cuda"), on("cuda", {{"seed", "2"}, {"algorithm", "sgp"}}), on("cuda:precision=bf16"),
      on("cuda", {{"batch", "16"}}), on("cuda", {{"epochs", "3"}, {"partition", "iid"}})};
  using Groups = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(fleets_of(configs), (Groups{{0, 1, 4}, {2}, {3}}));
  EXPECT_EQ(fleets_of(configs, 2), (Groups{{0, 1}, {2}, {3}, {4}}));
}

TEST(FleetsOf, TheCpuAreSingleRuns) {
  const std::vector<train::RunOptions> configs{on("cpu"), on("cpu")};
  EXPECT_EQ(fleets_of(configs).size(), 2u);
}

}  // namespace
}  // namespace hearsay::run
