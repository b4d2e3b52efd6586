// Runs on a GPU, compared with runs on the host and with each other.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/device.h"
#include "hearsay/core/error.h"
#include "hearsay/run/fleet.h"
#include "hearsay/run/run.h"
#include "hearsay/train/trainer.h"
#include "support/every_algorithm.h"

namespace hearsay::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGpu = "cuda:precision=fp32";

bool has_gpu() { return backend::cuda::device_count() > 0; }

/// 20 rounds of every method with a small convolutional network.
class GpuRunOf : public support::EveryAlgorithm {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no CUDA device";
  }

  static train::RunOptions network_on(const std::string& device, const std::string& seed = "1") {
    return method_on({{"device", device},
                      {"data", "synthetic:shape=1x8x8,classes=3,samples=240"},
                      {"model", "cnn:norm=group"},
                      {"batch", "8"},
                      {"rounds", "20"},
                      {"evaluate", "20"},
                      {"threads", "2"},
                      {"seed", seed}});
  }
};

void run_all(train::Trainer& trainer) {
  while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);
  trainer.drain();
}

/// |a - b| / |b|
double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0, norm = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    error += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
    norm += std::pow(static_cast<double>(b[k]), 2);
  }
  return std::sqrt(error / norm);
}

/// On the host, learning rates that differ by 5e-6 of themselves, about the effect of another
/// summation order on a gradient, end in models up to 7e-4 apart: compressors and relus have
/// thresholds.
TEST_P(GpuRunOf, HasTheModelsOfTheHost) {
  train::Trainer host(network_on("cpu")), device(network_on(kGpu));
  run_all(host);
  run_all(device);
  for (std::size_t i = 0; i < host.peers(); ++i) {
    EXPECT_LE(relative_distance(device.model(i), host.model(i)), 1e-3) << "peer " << i;
  }
  EXPECT_NE(device.model(0), train::Trainer(network_on(kGpu)).model(0)) << "it moved at all";
}

TEST_P(GpuRunOf, GivesTheSameBitsAgain) {
  train::Trainer first(network_on(kGpu)), second(network_on(kGpu));
  run_all(first);
  run_all(second);
  for (std::size_t i = 0; i < first.peers(); ++i) EXPECT_EQ(second.model(i), first.model(i)) << i;
}

TEST_P(GpuRunOf, GivesTheSameBitsBesideAnother) {
  support::Scratch scratch;
  Observer silent;
  std::vector<FleetRun> runs;
  for (const char* seed : {"1", "2"}) {
    const train::RunOptions config = network_on(kGpu, seed);
    run(config, scratch / (std::string("alone") + seed), silent);
    runs.push_back({config, scratch / (std::string("fleet") + seed), &silent});
  }
  for (const FleetOutcome& outcome : run_fleet(runs)) EXPECT_EQ(outcome.error, "");
  for (const char* seed : {"1", "2"}) {
    const fs::path alone = scratch / (std::string("alone") + seed);
    const fs::path fleet = scratch / (std::string("fleet") + seed);
    EXPECT_EQ(support::contents(fleet / "models"), support::contents(alone / "models"))
        << "seed " << seed;
    EXPECT_EQ(support::metrics_of(fleet), support::metrics_of(alone)) << "seed " << seed;
  }
}

/// Requests a stop once so many rounds are completed.
class StopAt : public Observer {
 public:
  explicit StopAt(std::uint64_t round) : round_(round) {}
  void progressed(const train::RunView& run) override { done_ = run.round(); }
  bool stop_requested() override { return done_ >= round_; }

 private:
  std::uint64_t round_, done_ = 0;
};

TEST_P(GpuRunOf, GoesOnBitForBitAfterAStop) {
  support::Scratch scratch;
  Observer silent;
  StopAt seven(7);
  run(network_on(kGpu), scratch / "unbroken", silent);
  EXPECT_FALSE(run(network_on(kGpu), scratch / "stopped", seven).finished);
  EXPECT_TRUE(resume(scratch / "stopped", 1, silent).finished);
  EXPECT_EQ(support::contents(scratch / "stopped/models"),
            support::contents(scratch / "unbroken/models"));
  EXPECT_EQ(support::metrics_of(scratch / "stopped"), support::metrics_of(scratch / "unbroken"));
}

INSTANTIATE_TEST_SUITE_P(Registry, GpuRunOf, ::testing::ValuesIn(algorithm::registry()),
                         support::name_of);

/// The device may be 64 rounds behind: its late reports are just as exact.
TEST(GpuRun, NamesThePeerAndRoundOfAFailure) {
  if (!has_gpu()) GTEST_SKIP() << "no CUDA device";
  const auto failure_on = [](const char* device) -> std::string {
    train::Trainer trainer(
        support::config_of({{"device", device},
                            {"data", "synthetic:shape=1x8x8,classes=3,samples=240"},
                            {"model", "mlp:hidden=8"},
                            {"peers", "3"},
                            {"algorithm", "dsgd"},
                            {"lr", "1e30"},
                            {"rounds", "20"},
                            {"threads", "1"}}));
    try {
      run_all(trainer);
    } catch (const RunFailed& error) {
      return error.what();
    }
    return "none";
  };
  const std::string found = failure_on(kGpu);
  EXPECT_NE(found.find(" of peer 0 is "), std::string::npos) << found;
  const auto round_of = [](const std::string& text) {
    const std::size_t at = text.find("in round ");
    return at == std::string::npos ? text : text.substr(at, text.find(';') - at);
  };
  EXPECT_EQ(round_of(found), round_of(failure_on("cpu"))) << found;
}

}  // namespace
}  // namespace hearsay::run
