#include <gtest/gtest.h>

#include "hearsay/train/trainer.h"
#include "support/scratch.h"

namespace hearsay::run {
namespace {

/// Mean accuracy of four peers that learn the digits at top-0.1 %, a small version of the runs in
/// docs/results.md.
double accuracy(const std::string& algorithm, const std::string& partition) {
  train::Trainer peers(train::resolve(support::config_of({{"algorithm", algorithm},
                                                          {"compressor", "topk:keep=0.001"},
                                                          {"data", "digits"},
                                                          {"partition", partition},
                                                          {"rounds", "400"},
                                                          {"threads", "1"}})));
  while (peers.round() < peers.total_rounds()) peers.run_round(false);
  return *peers.evaluate().find("accuracy")->mean;
}

TEST(LabelSkew, CostsSparsePushAccuracyAndTheFinalRoundsBringMostOfItBack) {
  const double iid = accuracy("sparse-push", "iid");
  const double skewed = accuracy("sparse-push", "skew:0.8");
  const double compensated = accuracy("scsp", "skew:0.8");
  EXPECT_LT(skewed, iid - 3);
  EXPECT_GT(compensated - skewed, 0.5 * (iid - skewed));
}

}  // namespace
}  // namespace hearsay::run
