// What asynchrony, losses and deaths cost: statistics, which need no sanitizer.
#include <gtest/gtest.h>

#include <cmath>

#include "hearsay/peer/world/world.h"
#include "hearsay/train/trainer.h"

namespace hearsay::peer {
namespace {

/// Least squares with noise, 16 peers whose speeds differ by 4 on a changing graph.
train::RunOptions least_squares(const std::string& keep) {
  train::RunOptions options{.peers = 16};
  options.graph = "one-peer-exponential";
  options.algorithm = "scsp:final=40";
  options.compressor = "topk:keep=" + keep;
  options.data = "least-squares:dim=100,samples=200,noise=1";
  options.rounds = 2000;
  options.lr = "0.02";
  return options;
}

double distance(std::span<const float> model, std::span<const double> optimum) {
  double squares = 0;
  for (std::size_t k = 0; k < model.size(); ++k) {
    squares += std::pow(static_cast<double>(model[k]) - optimum[k], 2);
  }
  return std::sqrt(squares);
}

/// Mean distance of the peers' models to the optimum after lock-step rounds.
double lock_step_error(const train::RunOptions& options) {
  train::Trainer trainer(train::resolve(options));
  while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);
  double sum = 0;
  for (std::size_t i = 0; i < trainer.peers(); ++i) {
    sum += distance(trainer.model(i), trainer.objective().optimum());
  }
  return sum / static_cast<double>(trainer.peers());
}

struct Result {
  double error = 0, seconds = 0;
};

Result asynchronous(train::RunOptions options, const std::string& link,
                    const Controls& controls = {}) {
  options.link = link;
  World world({.options = train::resolve(options), .controls = controls});
  while (world.step()) {
  }
  double sum = 0, count = 0;
  for (std::uint32_t slot = 0; slot < world.peers(); ++slot) {
    const Peer* peer = world.peer(slot);
    if (peer == nullptr) continue;
    sum += distance(peer->model().parameters, peer->objective().optimum());
    ++count;
  }
  return {sum / count, world.now()};
}

TEST(World, ComesAsCloseToTheOptimumAsLockStep) {
  for (const char* keep : {"1", "0.1", "0.01"}) {
    const train::RunOptions options = least_squares(keep);
    const double lock_step = lock_step_error(options);
    const auto ratio = [&](const char* link) {
      return asynchronous(options, link).error / lock_step;
    };
    EXPECT_LE(ratio("speeds=4"), 1.5) << keep;
    EXPECT_LE(ratio("speeds=4,loss=0.1"), 1.5) << keep;
    EXPECT_LE(ratio("speeds=4,loss=0.1,cut=0.4..0.5"), 1.5) << keep;
    EXPECT_LE(ratio("speeds=4,loss=0.3"), 2) << keep;
    EXPECT_LE(ratio("speeds=4,loss=0.3,kill=4@0.3,back=0.5"), 2) << keep;
  }
}

TEST(World, MissesTheOptimumWithoutScalesByRate) {
  const train::RunOptions options = least_squares("1");
  EXPECT_GT(asynchronous(options, "speeds=4", {.scale = false}).error,
            2 * lock_step_error(options));
}

TEST(World, MissesTheOptimumIfPeersReturnWithoutWeight) {
  const train::RunOptions options = least_squares("1");
  const char* link = "speeds=4,kill=12@0.3,back=0.5";
  EXPECT_GT(asynchronous(options, link, {.entering_weight = 1e-3}).error,
            2 * asynchronous(options, link).error);
}

TEST(World, ReadsDigitsAsWellAsLockStep) {
  train::RunOptions options{.peers = 16};
  options.graph = "one-peer-exponential";
  options.algorithm = "scsp:final=20";
  options.compressor = "topk:keep=0.1,value=f16";
  options.rounds = 500;
  train::Trainer trainer(train::resolve(options));
  while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);
  const double lock_step = trainer.evaluate().find("accuracy")->mean.value();
  EXPECT_GT(lock_step, 90);

  const auto accuracy = [&](const char* link) {
    train::RunOptions own = options;
    own.timing = "asynchronous";
    own.link = link;
    World world({.options = train::resolve(own)});
    while (world.step()) {
    }
    double sum = 0, count = 0;
    for (const std::optional<train::PeerReport>& report : world.evaluate()) {
      if (!report) continue;
      sum += report->score.values[0];
      ++count;
    }
    return sum / count;
  };
  EXPECT_GT(accuracy("speeds=4,loss=0.1"), lock_step - 1);
  EXPECT_GT(accuracy("speeds=4,loss=0.3,kill=4@0.3,back=0.5"), lock_step - 2);
}

TEST(World, EndsSoonerThanTheSlowestPeerWould) {
  const train::RunOptions options = least_squares("0.1");
  const double lock_step = 0.1 * 4 * static_cast<double>(options.rounds);
  EXPECT_GT(lock_step / asynchronous(options, "speeds=4,compute=0.1").seconds, 1.8);
}

}  // namespace
}  // namespace hearsay::peer
