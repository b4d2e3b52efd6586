#include "hearsay/engine/closed_form/logistic.h"

#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "engine/bank.h"

namespace hearsay::engine {
namespace {

TEST(Logistic, PeersDifferByTheHeterogeneityAtTheOptimum) {
  for (std::size_t peers : {2u, 5u, 32u}) {
    for (double b2 : {0.0, 0.01, 1.0, 25.0}) {
      Bank bank(fmt::format("logistic:heterogeneity={}", b2), {.peers = peers});
      bank.place(bank->optimum());
      bank.gradients(0);
      EXPECT_NEAR(squared_norm(bank.g) / static_cast<double>(peers), b2, 1e-5 * b2 + 1e-12);
    }
  }
}

TEST(Logistic, HeterogeneityLeavesTheWholeProblemAsItIs) {
  Bank same("logistic:heterogeneity=0");
  Bank apart("logistic:heterogeneity=4");
  for (std::size_t k = 0; k < same.dim(); ++k) {
    EXPECT_EQ(same->optimum()[k], apart->optimum()[k]);
  }
  same.scatter();
  const std::span<const float> model(same.x.data(), same.dim());
  EXPECT_EQ(same->evaluate(model, {}).loss, apart->evaluate(model, {}).loss);
}

TEST(Logistic, StartsAtTheLossOfACoin) {
  Bank bank("logistic");
  bank.gradients(0);
  for (double loss : bank.losses) EXPECT_NEAR(loss, std::log(2), 50 * 0x1p-53);  // 50 terms
}

TEST(Logistic, FindsTheModelThatMadeTheLabels) {
  Bank bank("logistic:samples=2000,l2=0", {.peers = 8});
  EXPECT_NEAR(std::sqrt(squared_norm(bank->optimum())), 2, 0.1);
}

TEST(Logistic, BatchesOfAnEpochHaveTheFullGradientAsTheirMean) {
  Bank full("logistic:samples=60");
  Bank batched("logistic:samples=60,batch=12");
  EXPECT_EQ(full->rounds_per_epoch(), 1u);
  EXPECT_EQ(full->batch(), 60u);
  EXPECT_EQ(batched->rounds_per_epoch(), 5u);
  EXPECT_EQ(batched->batch(), 12u);
  full.scatter();
  batched.scatter();
  full.gradients(0);
  std::vector<double> mean(full.g.size(), 0);
  for (std::uint32_t round = 10; round < 15; ++round) {
    batched.gradients(round);
    EXPECT_NE(batched.g, full.g);
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += static_cast<double>(batched.g[k]) / 5;
  }
  for (std::size_t k = 0; k < mean.size(); ++k) EXPECT_NEAR(mean[k], full.g[k], 1e-6);
}

TEST(Logistic, StaysFiniteFarAway) {
  Bank bank("logistic");
  bank.place(std::vector<float>(bank.dim(), 1e6f));
  bank.gradients(0);
  for (double loss : bank.losses) EXPECT_TRUE(std::isfinite(loss));
  for (float g : bank.g) EXPECT_TRUE(std::isfinite(g));
}

TEST(Logistic, NeedsAnL2TermWhereAPlaneSeparatesTheSamples) {
  const std::string expected =
      "[logistic] l2 must be above 0 here: a plane separates the samples, so without it there is "
      "no "
      "optimum, got 0";
  EXPECT_EQ(message_of("logistic:dim=10,samples=1,l2=0", {.peers = 4}), expected);
  EXPECT_EQ(message_of("logistic:dim=10,samples=3,l2=0", {.peers = 4}), expected);
  EXPECT_EQ(message_of("logistic:dim=10,samples=3,l2=1e-6", {.peers = 4}), "no error");
}

}  // namespace
}  // namespace hearsay::engine
