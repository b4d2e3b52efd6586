#include <cmath>

#include <gtest/gtest.h>

#include "graph/matrices.h"

namespace hearsay::graph {
namespace {

std::vector<std::size_t> receivers(const Weights& weights, std::size_t sender) {
  std::vector<std::size_t> found;
  for (const Edge& edge : weights.out_of(sender)) found.push_back(edge.receiver);
  return found;
}

using Peers = std::vector<std::size_t>;

TEST(Ring, HasTwoNeighboursAtOneThird) {
  const Weights ring = weights_of("ring", 5);
  EXPECT_EQ(receivers(ring, 0), (Peers{1, 4}));
  for (const Edge& edge : ring.edges()) EXPECT_DOUBLE_EQ(edge.weight, 1.0 / 3);
}

TEST(Ring, DirectedSendsHalfToTheNext) {
  const Weights ring = weights_of("ring:directed", 5);
  EXPECT_EQ(receivers(ring, 4), (Peers{0}));
  for (const Edge& edge : ring.edges()) EXPECT_EQ(edge.weight, 0.5);
}

TEST(Ring, OfTwoHasOneNeighbourOnly) {
  for (const char* spec : {"ring", "ring:directed", "torus:1x2", "torus:2x1", "exponential"}) {
    EXPECT_EQ(dense(weights_of(spec, 2)), (Matrix{{0.5, 0.5}, {0.5, 0.5}})) << spec;
  }
}

TEST(Torus, HasNoDoubledEdgesWhenTwoRowsWrap) {
  const Weights torus = weights_of("torus:2x5", 10);
  EXPECT_EQ(receivers(torus, 0), (Peers{1, 4, 5}));
  for (const Edge& edge : torus.edges()) EXPECT_EQ(edge.weight, 0.25);
}

TEST(Torus, WrapsRowsAndColumns) {
  EXPECT_EQ(receivers(weights_of("torus:3x4", 12), 0), (Peers{1, 3, 4, 8}));
}

TEST(Grid, HasBordersAndMetropolisWeights) {
  const Weights grid = weights_of("grid:3x3", 9);
  EXPECT_EQ(receivers(grid, 0), (Peers{1, 3}));
  EXPECT_EQ(receivers(grid, 4), (Peers{1, 3, 5, 7}));
  const Matrix w = dense(grid);
  EXPECT_EQ(w[1][0], 0.25);  // 1 has three neighbours, 0 has two
  EXPECT_EQ(w[4][1], 0.2);
}

TEST(Grid, WithoutASizeIsTheMostSquare) {
  EXPECT_EQ(receivers(weights_of("grid", 12), 0), (Peers{1, 4}));
  EXPECT_EQ(receivers(weights_of("grid", 7), 0), (Peers{1}));
}

TEST(Star, IsDoublyStochasticByMetropolisAndPushesEvenlyByUniform) {
  const Matrix w = dense(weights_of("star", 5));
  EXPECT_DOUBLE_EQ(w[0][0], 0.2);
  EXPECT_DOUBLE_EQ(w[3][3], 0.8);
  EXPECT_DOUBLE_EQ(w[0][3], 0.2);
  const Matrix uniform = dense(weights_of("star:weights=uniform", 5));
  EXPECT_DOUBLE_EQ(uniform[3][0], 0.2);
  EXPECT_DOUBLE_EQ(uniform[0][3], 0.5);
}

TEST(Complete, IsTheAverage) {
  for (const auto& row : dense(weights_of("complete", 7))) {
    for (double w : row) EXPECT_NEAR(w, 1.0 / 7, 1e-15);
  }
}

TEST(Exponential, SendsToPowersOfTwoAhead) {
  const Weights weights = weights_of("exponential", 6);
  EXPECT_EQ(receivers(weights, 0), (Peers{1, 2, 4}));
  EXPECT_EQ(receivers(weights, 5), (Peers{0, 1, 3}));
  for (const Edge& edge : weights.edges()) EXPECT_EQ(edge.weight, 0.25);
}

Matrix product_of_rounds(std::size_t n, std::uint64_t first, std::uint64_t count) {
  const auto schedule = make_schedule("one-peer-exponential", {.peers = n});
  Matrix p = dense(schedule->at(first, 0));
  for (std::uint64_t round = first + 1; round < first + count; ++round) {
    p = product(dense(schedule->at(round, 0)), p);
  }
  return p;
}

TEST(OnePeerExponential, AveragesExactlyAfterLog2RoundsFromAnyRoundForPowersOfTwo) {
  for (std::uint64_t tau = 1; tau <= 6; ++tau) {
    const std::size_t n = std::size_t{1} << tau;
    for (std::uint64_t first = 0; first < 2 * tau; ++first) {
      for (const auto& row : product_of_rounds(n, first, tau)) {
        for (double w : row) ASSERT_EQ(w, 1.0 / static_cast<double>(n)) << n << " from " << first;
      }
    }
  }
}

TEST(OnePeerExponential, DoesNotAverageExactlyForSixPeers) {
  double worst = 0;
  for (const auto& row : product_of_rounds(6, 0, 3)) {
    for (double w : row) worst = std::max(worst, std::abs(w - 1.0 / 6));
  }
  EXPECT_GT(worst, 0.01);
}

TEST(SparsePush, HasTheToursAndWeightsOfTheFigure) {
  const double h = 1 - 1.0 / 2, t = 1 - 1.0 / 3;
  EXPECT_EQ(dense(weights_of("sparse-push:a", 4)),
            (Matrix{{h, 0, 0, 1. / 3}, {.5, t, 0, 0}, {0, 1. / 3, h, 0}, {0, 0, .5, t}}));
  EXPECT_EQ(dense(weights_of("sparse-push:b", 4)),
            (Matrix{{h, 1. / 3, 0, 0}, {0, t, .5, 0}, {0, 0, h, 1. / 3}, {.5, 0, 0, t}}));
  EXPECT_EQ(dense(weights_of("sparse-push:c", 4)),
            (Matrix{{h, 0, 0, 1. / 3}, {0, t, .5, 0}, {.5, 0, h, 0}, {0, 1. / 3, 0, t}}));
}

TEST(Random, DiffersBySeedAndHasAboutPOfTheEdges) {
  const Weights a = weights_of("random:p=0.3", 100, 1), b = weights_of("random:p=0.3", 100, 2);
  EXPECT_NE(dense(a), dense(b));
  const double expected = 0.3 * 100 * 99, deviation = std::sqrt(expected * 0.7);
  EXPECT_NEAR(static_cast<double>(a.edge_count()), expected, 5 * deviation);
  EXPECT_EQ(weights_of("random:p=1", 9).edge_count(), 72u);
}

TEST(Random, IsDrawnAnewEveryFewRounds) {
  const auto schedule = make_schedule("random:p=0.5,every=3", {.peers = 20, .seed = 5});
  const Matrix first = dense(schedule->at(0, 0));
  EXPECT_EQ(dense(schedule->at(2, 0)), first);
  EXPECT_NE(dense(schedule->at(3, 0)), first);
  EXPECT_EQ(dense(schedule->at(0, 0)), first);
  EXPECT_EQ(schedule->phase(8, 0), 2u);
  EXPECT_EQ(schedule->change(), Schedule::Change::kPhases);
}

}  // namespace
}  // namespace hearsay::graph
