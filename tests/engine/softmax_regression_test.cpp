#include "hearsay/engine/softmax_regression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/bank.h"

namespace hearsay::engine {
namespace {

constexpr std::size_t kBias = 640;  // where the biases begin

TEST(SoftmaxRegression, LaysOutWeightsAndBiases) {
  Bank bank("digits", {.peers = 4, .batch = 32});
  const auto& segments = bank->layout().segments();
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].name, "weight");
  EXPECT_EQ(segments[0].shape, (std::vector<std::size_t>{10, 64}));
  EXPECT_EQ(segments[1].name, "bias");
  EXPECT_EQ(segments[1].offset, kBias);
  EXPECT_EQ(bank->rounds_per_epoch(), 12u);  // 1,442 / 4 = 360 samples a peer
  EXPECT_EQ(bank->batch(), 32u);
}

TEST(SoftmaxRegression, KnowsNothingAtFirst) {
  Bank bank("digits");
  const Score score = bank->evaluate({bank.x.data(), bank.dim()}, {});
  EXPECT_NEAR(score.loss, std::log(10), 1e-12);
  EXPECT_NEAR(score.accuracy.value(), 100.0 * 35 / 355, 1e-12) << "always says 0";
  EXPECT_FALSE(score.distance_to_optimum.has_value());
  bank.gradients(0);
  for (double loss : bank.losses) EXPECT_NEAR(loss, std::log(10), 1e-12);
}

TEST(SoftmaxRegression, PeersSeeOnlyTheirPart) {
  Bank bank("digits", {.peers = 10, .partition = "by-label", .batch = 50});
  // At zero a bias's slope is 1/10 less the class's share of the batch. Peer 5 holds 144 samples of
  // the ten classes of about 144, so no 0 and no 9; a whole pass is three rounds.
  double share_of_five = 0;
  for (std::uint32_t round = 0; round < 3; ++round) {
    bank.gradients(round);
    const float* bias = bank.g.data() + 5 * bank.dim() + kBias;
    EXPECT_FLOAT_EQ(bias[0], 0.1f);
    EXPECT_FLOAT_EQ(bias[9], 0.1f);
    share_of_five += (0.1 - static_cast<double>(bias[5])) / 3;
  }
  EXPECT_GT(share_of_five, 0.8);
}

TEST(SoftmaxRegression, LearnsTheDigits) {
  Bank bank("digits", {.peers = 4, .threads = 2, .partition = "skew:0.8"});
  for (std::uint32_t round = 0; round < 600; ++round) {
    bank.gradients(round);
    const auto mean = bank.mean_gradient();
    for (std::size_t k = 0; k < bank.x.size(); ++k) {
      bank.x[k] -= 0.5f * static_cast<float>(mean[k % bank.dim()]);
    }
  }
  const Score score = bank->evaluate({bank.x.data(), bank.dim()}, {});
  EXPECT_GT(score.accuracy.value(), 95);
  EXPECT_LT(score.loss, 0.25);
}

}  // namespace
}  // namespace hearsay::engine
