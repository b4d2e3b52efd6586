#include "hearsay/engine/closed_form/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "engine/bank.h"

namespace hearsay::engine {
namespace {

TEST(LeastSquares, PeersDifferByTheHeterogeneityAtTheOptimum) {
  for (std::size_t peers : {2u, 5u, 32u}) {
    for (double b2 : {0.01, 1.0, 25.0}) {
      Bank bank(fmt::format("least-squares:heterogeneity={}", b2), {.peers = peers});
      bank.place(bank->optimum());
      bank.gradients(0);
      EXPECT_NEAR(squared_norm(bank.g) / static_cast<double>(peers), b2, 1e-5 * b2);
    }
  }
}

TEST(LeastSquares, WithoutHeterogeneityEveryPeerHasTheSameOptimum) {
  Bank bank("least-squares:heterogeneity=0");
  bank.place(bank->optimum());
  bank.gradients(0);
  for (float g : bank.g) EXPECT_NEAR(g, 0, 1e-6);
  EXPECT_NEAR(bank.losses[0], 0, 1e-12);
}

TEST(LeastSquares, NoiseHasTheStatedPowerAndNoMean) {
  const double sigma2 = 0.3;
  Bank clean("least-squares", {.peers = 4});
  Bank noisy("least-squares:noise=0.3", {.peers = 4});
  clean.gradients(0);
  double power = 0;
  std::vector<double> mean(clean.dim(), 0);
  const std::uint32_t rounds = 2000;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    noisy.gradients(round);
    EXPECT_EQ(noisy.losses, clean.losses);
    for (std::size_t k = 0; k < noisy.g.size(); ++k) {
      const double w = static_cast<double>(noisy.g[k]) - static_cast<double>(clean.g[k]);
      power += w * w / (4 * rounds);
      mean[k % clean.dim()] += w / (4 * rounds);
    }
  }
  // 80,000 squares of normals: a standard error of 0.5 %.
  EXPECT_NEAR(power, sigma2, 0.03 * sigma2);
  const double standard_error = std::sqrt(sigma2 / 10 / (4 * rounds));
  for (double entry : mean) EXPECT_LT(std::abs(entry), 5 * standard_error);
}

TEST(LeastSquares, GradientIsRoundedOnce) {
  Bank bank("least-squares");
  bank.scatter();
  bank.gradients(0);
  const std::vector<float> x = bank.x;
  const std::vector<float> g = bank.g;
  // Central differences of a quadratic are exact up to the rounding of doubles.
  for (std::size_t k = 0; k < bank.dim(); ++k) {
    const auto losses_at = [&](float shift) {
      bank.x = x;
      for (std::size_t i = 0; i < bank.rows(); ++i) bank.x[i * bank.dim() + k] += shift;
      bank.gradients(0);
      return bank.losses;
    };
    const auto above = losses_at(1);
    const auto below = losses_at(-1);
    for (std::size_t i = 0; i < bank.rows(); ++i) {
      const double exact = (above[i] - below[i]) / 2;
      EXPECT_NEAR(g[i * bank.dim() + k], exact, 0x1p-24 * std::abs(exact) + 1e-12);
    }
  }
}

TEST(LeastSquares, ConditionShapesTheHessian) {
  Bank bank("least-squares:dim=3,samples=20000,condition=100,heterogeneity=0", {.peers = 1});
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<double> x(bank->optimum().begin(), bank->optimum().end());
    x[k] += 1;
    bank.place(x);
    bank.gradients(0);
    const double expected = std::pow(100.0, -0.5 * static_cast<double>(k));
    EXPECT_NEAR(bank.g[k], expected, 0.05 * expected);  // standard error 1 %
  }
}

TEST(LeastSquares, SaysWhatIsWrong) {
  EXPECT_EQ(message_of("least-squares:dim=50,samples=2", {.peers = 4}),
            "[least-squares] samples must be at least dim / peers = 50 / 4, got 2");
  EXPECT_EQ(message_of("least-squares:noise=-1"),
            "[least-squares] noise must be in [0, inf), got -1");
  EXPECT_EQ(message_of("least-squares:condition=0.5"),
            "[least-squares] condition must be in [1, inf), got 0.5");
}

}  // namespace
}  // namespace hearsay::engine
