// Trainers whose device lags behind: their reports are the same, only later.
#include <gtest/gtest.h>

#include "hearsay/core/error.h"
#include "hearsay/train/trainer.h"
#include "support/every_algorithm.h"
#include "support/lagging_kernels.h"

namespace hearsay::run {
namespace {

struct Behind {
  std::shared_ptr<gossip::Machine> machine = std::make_shared<gossip::Machine>(
      1, [](ThreadPool& pool) { return std::make_unique<support::LaggingKernels>(pool); });
  support::LaggingKernels& kernels = static_cast<support::LaggingKernels&>(machine->kernels());
};

class LagOf : public support::EveryAlgorithm {};

TEST_P(LagOf, ChangesNeitherModelsNorMetrics) {
  Behind behind;
  train::Trainer at_once(settings()), late(settings(), behind.machine);
  while (late.round() < late.total_rounds()) {
    at_once.run_round(false);
    late.run_round(false);
    if (late.round() % 10 == 0) {
      EXPECT_EQ(train::to_json_line(late.evaluate()), train::to_json_line(at_once.evaluate()));
    }
  }
  EXPECT_EQ(train::to_json_line(late.evaluate()), train::to_json_line(at_once.evaluate()));
  for (std::size_t i = 0; i < late.peers(); ++i) EXPECT_EQ(late.model(i), at_once.model(i)) << i;
  const gossip::Traffic &a = late.traffic(), &b = at_once.traffic();
  EXPECT_EQ(a.messages, b.messages);
  EXPECT_EQ(a.edge_rounds, b.edge_rounds);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.paper_bytes, b.paper_bytes);
  EXPECT_EQ(a.global_bytes, b.global_bytes);
}

INSTANTIATE_TEST_SUITE_P(Registry, LagOf, ::testing::ValuesIn(algorithm::registry()),
                         support::name_of);

TEST(Lag, LetsTheHostWaitOnceInThreeRounds) {
  Behind behind;
  train::Trainer trainer(support::quadratics({{"algorithm", "sgp"}, {"rounds", "40"}}),
                         behind.machine);
  for (int round = 0; round < 30; ++round) trainer.run_round(false);
  EXPECT_EQ(behind.kernels.waits(), 10u);
}

TEST(Lag, MakesAgaWaitOnlyInItsAverages) {
  Behind behind;
  train::Trainer trainer(support::quadratics({{"algorithm", "aga:period=10"}, {"rounds", "40"}}),
                         behind.machine);
  for (int round = 0; round < 9; ++round) trainer.run_round(false);
  EXPECT_EQ(behind.kernels.waits(), 3u);
  trainer.run_round(false);
  EXPECT_EQ(behind.kernels.waits(), 4u);
}

std::string failure_of(train::Trainer& trainer) {
  try {
    while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);
    trainer.drain();
  } catch (const RunFailed& error) {
    return error.what();
  }
  return "none";
}

TEST(Lag, NamesThePeerAndRoundOfAFailureExactly) {
  for (const char* rate : {"1e30", "1e12", "1e3", "50"}) {
    const train::RunOptions config =
        support::quadratics({{"algorithm", "sgp"}, {"lr", rate}, {"rounds", "300"}});
    Behind behind;
    train::Trainer at_once(config), late(config, behind.machine);
    const std::string failure = failure_of(at_once);
    EXPECT_NE(failure, "none") << rate;
    EXPECT_EQ(failure_of(late), failure) << rate;
    EXPECT_GE(late.round(), at_once.round());
  }
}

TEST(Lag, OfOneRunLeavesTheOthersOnItsMachineAlone) {
  const train::RunOptions good = support::quadratics({{"algorithm", "sgp"}, {"rounds", "20"}});
  const train::RunOptions bad =
      support::quadratics({{"algorithm", "sgp"}, {"lr", "1e30"}, {"rounds", "20"}});
  Behind behind;
  train::Trainer alone(good), side(good, behind.machine);
  {
    train::Trainer failing(bad, behind.machine);
    failing.run_round(false);  // its results, which are not finite, are not known yet
    side.run_round(false);
  }
  while (side.round() < side.total_rounds()) side.run_round(false);
  EXPECT_EQ(failure_of(alone), "none");
  EXPECT_EQ(side.model(3), alone.model(3));
  EXPECT_EQ(train::to_json_line(side.evaluate()), train::to_json_line(alone.evaluate()));
}

}  // namespace
}  // namespace hearsay::run
