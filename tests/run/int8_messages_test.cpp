#include <gtest/gtest.h>

#include "hearsay/train/trainer.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

struct Finished {
  double accuracy = 0;  ///< mean over the peers, in percent
  double distance = 0;  ///< the consensus distance
  std::uint64_t bytes = 0;
};

/// Four peers that learn the digits, with a label skew of 0.8.
Finished outcome_of(const std::string& algorithm, const std::string& compressor) {
  train::Trainer peers(train::resolve(support::config_of({{"algorithm", algorithm},
                                                          {"compressor", compressor},
                                                          {"data", "digits"},
                                                          {"partition", "skew:0.8"},
                                                          {"rounds", "300"},
                                                          {"threads", "1"}})));
  while (peers.round() < peers.total_rounds()) peers.run_round(false);
  const train::Metrics metrics = peers.evaluate();
  return {*metrics.find("accuracy")->mean, metrics.divergence, metrics.traffic.bytes};
}

TEST(Int8Messages, TrainAsUncompressedOnesDo) {
  const Finished full = outcome_of("sgp", "identity");
  const Finished feedback = outcome_of("sparse-push", "int8");
  const Finished difference = outcome_of("quant-sgp", "int8");
  EXPECT_NEAR(feedback.accuracy, full.accuracy, 1);
  EXPECT_NEAR(difference.accuracy, full.accuracy, 1);
  for (const Finished& compressed : {feedback, difference}) {
    EXPECT_GT(static_cast<double>(full.bytes) / static_cast<double>(compressed.bytes), 3.9);
  }
  // Differences shrink with the steps, and so do their rounding errors; models do not.
  EXPECT_LT(difference.distance, 1.1 * full.distance);
  EXPECT_GT(feedback.distance, 2 * full.distance);

  // The control: at top-0.1 % the same rounds are not as good.
  EXPECT_LT(outcome_of("sparse-push", "topk:keep=0.001").accuracy, full.accuracy - 3);
}

}  // namespace
}  // namespace hearsay::run
