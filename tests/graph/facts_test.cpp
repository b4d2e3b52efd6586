#include "hearsay/graph/facts.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>

#include "graph/matrices.h"
#include "hearsay/graph/spectrum/periodic.h"

namespace hearsay::graph {
namespace {

constexpr double kPi = std::numbers::pi;

Facts facts(std::string_view spec, std::size_t peers) {
  return facts_of(*make_schedule(spec, {.peers = peers, .seed = 1}));
}

TEST(Facts, RingHasItsClosedForm) {
  for (std::size_t n : {3, 4, 5, 8, 17, 64, 1001}) {
    const Facts ring = facts("ring", n);
    const double expected = (1 + 2 * std::cos(2 * kPi / static_cast<double>(n))) / 3;
    EXPECT_NEAR(ring.rho, std::max(expected, n == 4 ? 1.0 / 3 : 0.0), 1e-14) << n;
    EXPECT_EQ(ring.second_modulus, ring.rho);
  }
}

TEST(Facts, EvenRingReachesMinusOneThird) {
  EXPECT_NEAR(facts("ring", 8).lambda_min, -1.0 / 3, 1e-15);
  EXPECT_NEAR(facts("ring", 4096).lambda_min, -1.0 / 3, 1e-15);
  EXPECT_GT(facts("ring", 9).lambda_min, -1.0 / 3 + 0.01);
}

TEST(Facts, DirectedRingHasItsClosedForm) {
  for (std::size_t n : {3, 4, 5, 16, 17, 4096}) {
    EXPECT_NEAR(facts("ring:directed", n).second_modulus, std::cos(kPi / static_cast<double>(n)),
                1e-14);
  }
}

TEST(Facts, TorusHasItsClosedForm) {
  const auto slowest = [](double rows, double columns) {
    double rho = 0;
    for (double r = 0; r < rows; ++r) {
      for (double c = 0; c < columns; ++c) {
        const double value =
            (1 + 2 * std::cos(2 * kPi * r / rows) + 2 * std::cos(2 * kPi * c / columns)) / 5;
        if (r + c > 0) rho = std::max(rho, std::abs(value));
      }
    }
    return rho;
  };
  EXPECT_NEAR(facts("torus:3x5", 15).rho, slowest(3, 5), 1e-14);
  EXPECT_NEAR(facts("torus:4x4", 16).rho, 0.6, 1e-14);
  EXPECT_NEAR(facts("torus:7x9", 63).rho, slowest(7, 9), 1e-14);
  EXPECT_NEAR(facts("torus:64x64", 4096).rho, slowest(64, 64), 1e-14);
}

TEST(Facts, ExponentialHasTheGapOfYingEtAl) {
  for (std::size_t n = 2; n <= 66; ++n) {
    const double bound = 1 - 2.0 / static_cast<double>(std::bit_width(n - 1) + 1);
    const double rho = facts("exponential", n).rho;
    if (n % 2 == 0) {
      EXPECT_NEAR(rho, bound, 1e-14) << n;
    } else {
      EXPECT_LT(rho, bound - 1e-6) << n;
    }
  }
}

TEST(Facts, OnePeerExponentialIsExactForPowersOfTwoOnly) {
  for (std::size_t n : {2, 4, 8, 64, 1024}) {
    const Facts exact = facts("one-peer-exponential", n);
    EXPECT_LT(exact.rho, 1e-15) << n;
    EXPECT_EQ(exact.period, std::bit_width(n) - 1u);
    EXPECT_LE(exact.rounds_to_1e3, exact.period);
  }
  EXPECT_GT(facts("one-peer-exponential", 6).rho, 0.1);
}

TEST(Facts, StarHasItsClosedForm) {
  for (std::size_t n : {3, 9, 300}) {  // eigenvalues 1, 1 - 1/n and 0
    const Facts star = facts("star", n);
    EXPECT_NEAR(star.rho, 1 - 1.0 / static_cast<double>(n), 1e-10);
    EXPECT_NEAR(star.lambda_min, 0, 1e-10);
  }
}

TEST(Facts, CompleteAveragesInOneRound) {
  const Facts complete = facts("complete", 9);
  EXPECT_LT(complete.rho, 1e-15);
  EXPECT_EQ(complete.rounds_to_1e3, 1u);
  EXPECT_EQ(complete.messages_per_round, 72);
}

TEST(Facts, SparsePushHasTheWeightsOfThePaper) {
  for (const char* spec : {"sparse-push:a", "sparse-push:b", "sparse-push:c"}) {
    const Facts paper = facts(spec, 4);
    EXPECT_TRUE(paper.column_stochastic);
    EXPECT_FALSE(paper.row_stochastic);
    EXPECT_FALSE(paper.doubly_stochastic);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(paper.perron[i], i % 2 == 0 ? 0.8 : 1.2, 1e-12);
  }
}

TEST(Facts, PerronVectorOfSlowGraphsIsProportionalToDegreePlusOne) {
  for (const char* spec : {"grid:1x300,weights=uniform", "grid:4x5,weights=uniform"}) {
    const auto schedule = make_schedule(spec, {});
    const Weights& weights = schedule->at(0, 0);
    const double scale = static_cast<double>(weights.edge_count() + weights.peers());
    const Facts grid = facts_of(*schedule);
    for (std::size_t i = 0; i < weights.peers(); ++i) {
      const double share = static_cast<double>(weights.out_of(i).size() + 1) / scale;
      EXPECT_NEAR(grid.perron[i], static_cast<double>(weights.peers()) * share, 1e-9) << spec << i;
    }
  }
}

TEST(Facts, RoundsAreThoseOfDoingIt) {
  // On a ring the slowest mode dominates: rho^t = 1e-3 / (its share of the vector, at most 1).
  const Facts ring = facts("ring", 16);
  const double latest = std::log(1e-3) / std::log(ring.rho);
  EXPECT_LE(static_cast<double>(ring.rounds_to_1e3), std::ceil(latest));
  EXPECT_GT(static_cast<double>(ring.rounds_to_1e3), latest / 3);
  const Facts directed = facts("sparse-push:a", 4);
  EXPECT_GT(directed.rounds_to_1e3, 5u);
  EXPECT_LT(directed.rounds_to_1e3, 40u);
}

TEST(Facts, RoundsOfSlowGraphsGrowWithTheSquareOfTheRing) {
  const double small =
      static_cast<double>(facts("ring", 1024).rounds_to_1e3);  // computed, not simulated
  const double large = static_cast<double>(facts("ring", 2048).rounds_to_1e3);
  EXPECT_NEAR(large / small, 4, 1);
  EXPECT_GT(small, 50000);
}

TEST(Facts, OfOnePeerAreTrivial) {
  for (const char* spec : {"ring", "complete", "one-peer-exponential", "star"}) {
    const Facts alone = facts(spec, 1);
    EXPECT_TRUE(alone.doubly_stochastic && alone.symmetric && alone.strongly_connected);
    EXPECT_EQ(alone.rho, 0);
    EXPECT_EQ(alone.lambda_min, 1);
    EXPECT_EQ(alone.perron, std::vector<double>{1.0});
    EXPECT_EQ(alone.rounds_to_1e3, 0u);
    EXPECT_EQ(alone.messages_per_round, 0);
  }
}

TEST(Facts, CountDegreesAndMessages) {
  const Facts grid = facts("grid:3x3", 9);
  EXPECT_EQ(grid.min_out_degree, 2u);
  EXPECT_EQ(grid.max_out_degree, 4u);
  EXPECT_EQ(grid.messages_per_round, 24);
  EXPECT_EQ(facts("cycle:ring+ring:directed", 6).messages_per_round, 9);
}

TEST(Facts, OfPropertiesOnlyLeaveTheSpectrumOut) {
  const Facts cheap = facts_of(*make_schedule("ring", {.peers = 9}), Depth::kProperties);
  EXPECT_TRUE(cheap.symmetric);
  EXPECT_EQ(cheap.rho, 0);
  EXPECT_TRUE(cheap.perron.empty());
}

TEST(Facts, OfAScheduleAreOfTheProductOverOnePeriod) {
  // Powers of one ring: the product over (ring, ring, ring) is its cube.
  const double one = facts("ring", 10).rho;
  EXPECT_NEAR(facts("cycle:ring+ring,every=3", 10).rho, std::pow(one, 6), 1e-13);
  EXPECT_EQ(facts("cycle:ring+ring,every=3", 10).period, 6u);
}

/// 4,096 peers in seconds; each family with its own solver.
class LargeGraph : public testing::TestWithParam<const char*> {};

TEST_P(LargeGraph, HasFacts) {
  const Facts large = facts(GetParam(), 4096);
  EXPECT_EQ(large.peers, 4096u);
  EXPECT_TRUE(large.strongly_connected && large.column_stochastic);
  EXPECT_LT(large.second_modulus, 1);
  EXPECT_TRUE(large.doubly_stochastic ? large.rho < 1 : large.rho >= large.second_modulus);
  EXPECT_GE(large.rounds_to_1e3, 1u);
  EXPECT_NEAR(std::accumulate(large.perron.begin(), large.perron.end(), 0.0), 4096, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Registry, LargeGraph,
                         testing::Values("ring", "ring:directed", "star", "star:weights=uniform",
                                         "grid", "grid:1x4096", "grid:weights=uniform", "torus",
                                         "complete", "random:p=0.01", "random:p=0.01,symmetric=1",
                                         "exponential", "one-peer-exponential",
                                         "cycle:grid+star,every=2"));

/// Regular families are circulant: their spectrum and rounds take O(n log n).
TEST(Facts, OfRegularGraphsOfManyPeersAreThereInSeconds) {
  constexpr std::size_t kPeers = 100'003;  // a prime
  const Facts ring = facts("ring", kPeers);
  ASSERT_TRUE(ring.has_spectrum);
  const double angle = 2 * kPi / static_cast<double>(kPeers);
  EXPECT_NEAR(1 - ring.rho, (1 - std::cos(angle)) * 2 / 3, 1e-15);
  // Every wave but the slowest few has vanished by then, and those have a share of the energy.
  const double latest = std::log(1e-3) / std::log1p(-(1 - std::cos(angle)) * 2 / 3);
  EXPECT_LT(static_cast<double>(ring.rounds_to_1e3), latest);
  EXPECT_GT(static_cast<double>(ring.rounds_to_1e3), latest / 10);
  EXPECT_TRUE(facts("torus", 1 << 16).has_spectrum);
  EXPECT_TRUE(facts("exponential", 1 << 14).has_spectrum);
}

TEST(Facts, OfWeightsThatRoundingSwallowsEnd) {
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < 5; ++i) edges.push_back({i, (i + 1) % 5, 1e-17});
  const Facts ring = facts_of(*make_static(Weights(5, edges)));
  EXPECT_EQ(ring.second_modulus, 1);
  EXPECT_EQ(ring.rounds_to_1e3, Facts::kNever);
  edges.push_back({0, 2, 1e-17});  // no circulant
  EXPECT_EQ(facts_of(*make_static(Weights(5, edges))).rounds_to_1e3, Facts::kNever);
}

}  // namespace
}  // namespace hearsay::graph
