#include "hearsay/cost/final_bytes.h"

#include <gtest/gtest.h>

#include "hearsay/train/trainer.h"
#include "support/scratch.h"

namespace hearsay::cost {
namespace {

/// What is announced before a run is what it then sends.
TEST(ExpectedBytes, AreThoseOfTheRun) {
  train::RunOptions config = support::config_of({{"rounds", "30"}, {"threads", "1"}});
  train::Trainer run(config);
  const ExpectedBytes expected = expected_bytes(run, config);
  while (run.round() < run.training_rounds()) run.run_round(false);
  const auto trained = static_cast<double>(run.traffic().bytes);
  EXPECT_NEAR(expected.training, trained, 0.02 * trained);
  while (run.round() < run.total_rounds()) run.run_round(false);
  const double final = static_cast<double>(run.traffic().bytes) - trained;
  EXPECT_EQ(run.final_rounds(), 20u);
  EXPECT_NEAR(expected.final, final, 0.001 * final);
  EXPECT_NEAR(expected.final_share(), final / (trained + final), 0.01);
}

TEST(ExpectedBytes, OfAMethodWithoutFinalRoundsAreThoseOfTraining) {
  const train::RunOptions config = support::config_of({{"algorithm", "sgp"}, {"rounds", "3"}});
  const ExpectedBytes expected = expected_bytes(train::Trainer(config), config);
  EXPECT_GT(expected.training, 0);
  EXPECT_EQ(expected.final, 0);
  EXPECT_EQ(expected.final_share(), 0);
}

}  // namespace
}  // namespace hearsay::cost
