#include "hearsay/graph/weights.h"

#include <gtest/gtest.h>

#include "graph/matrices.h"

namespace hearsay::graph {
namespace {

const std::vector<Edge> kEdges = {{2, 0, 0.25}, {0, 1, 0.5}, {1, 2, 0.125}, {1, 0, 0.375}};

TEST(Weights, OrderEdgesByReceiverAndBySender) {
  const Weights weights(3, kEdges);
  EXPECT_EQ(weights.peers(), 3u);
  EXPECT_EQ(weights.edge_count(), 4u);
  const std::vector<Edge> into_0(weights.into(0).begin(), weights.into(0).end());
  EXPECT_EQ(into_0, (std::vector<Edge>{{1, 0, 0.375}, {2, 0, 0.25}}));
  const std::vector<Edge> out_of_1(weights.out_of(1).begin(), weights.out_of(1).end());
  EXPECT_EQ(out_of_1, (std::vector<Edge>{{1, 0, 0.375}, {1, 2, 0.125}}));
  const std::vector<Edge> all(weights.edges().begin(), weights.edges().end());
  EXPECT_EQ(all, (std::vector<Edge>{{1, 0, 0.375}, {2, 0, 0.25}, {0, 1, 0.5}, {1, 2, 0.125}}));
}

TEST(Weights, KeepWhatASenderDoesNotSend) {
  const Weights weights(3, kEdges);
  EXPECT_EQ(weights.self(0), 0.5);
  EXPECT_EQ(weights.self(1), 0.5);
  EXPECT_EQ(weights.self(2), 0.75);
}

TEST(Weights, TouchingSomePeersHaveTheirEdgesAlone) {
  const Weights weights(4, {{0, 1, 0.5}, {1, 0, 0.375}, {1, 2, 0.125}, {3, 2, 0.25}, {2, 0, 0.25}});
  const Weights of_1 = touching(weights, 1, 1), all = touching(weights, 0, 4);
  EXPECT_EQ(of_1.peers(), 4u);
  EXPECT_EQ(std::vector(of_1.edges().begin(), of_1.edges().end()),
            (std::vector<Edge>{{1, 0, 0.375}, {0, 1, 0.5}, {1, 2, 0.125}}));
  EXPECT_EQ(of_1.self(1), 0.5);
  EXPECT_EQ(all.edges().data(), weights.edges().data());  // shared, not copied
}

TEST(Weights, MultiplyLikeTheDenseMatrix) {
  const Weights weights(3, kEdges);
  const Matrix w = dense(weights);
  const std::vector<double> x = {1, -2, 8};
  std::vector<double> y(3), transposed(3);
  weights.multiply(x, y);
  weights.multiply_transposed(x, transposed);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(y[i], w[i][0] * x[0] + w[i][1] * x[1] + w[i][2] * x[2]);
    EXPECT_EQ(transposed[i], w[0][i] * x[0] + w[1][i] * x[1] + w[2][i] * x[2]);
  }
}

TEST(Weights, MayBeEmpty) {
  EXPECT_EQ(Weights().peers(), 0u);
  const Weights alone(1, {});
  EXPECT_EQ(alone.self(0), 1.0);
  EXPECT_TRUE(alone.into(0).empty());
}

TEST(Weights, RefuseEdgesThatAreNone) {
  const auto message = [](std::vector<Edge> edges) {
    return message_of([&] { Weights(2, edges); });
  };
  EXPECT_EQ(message({{0, 2, 0.5}}),
            "[graph] edge 0 -> 2 names a peer that is not there; peers are 0 to 1");
  EXPECT_EQ(message({{1, 1, 0.5}}),
            "[graph] edge 1 -> 1 is a self-loop; leave it out: a peer keeps what it does not send");
  EXPECT_EQ(message({{0, 1, 0}}), "[graph] edge 0 -> 1 has weight 0; weights must be in (0, 1)");
  EXPECT_EQ(message({{0, 1, 0.25}, {1, 0, 0.5}, {0, 1, 0.25}}),
            "[graph] edge 0 -> 1 is given twice; give each pair once");
  EXPECT_EQ(message({{0, 1, 1.0}}),
            "[graph] peer 0 gives away 1 of its 1; its out-edges must sum to less than 1");
}

TEST(Weights, FindOutASumOfOneDespiteRounding) {
  std::vector<Edge> edges;
  for (std::uint32_t receiver = 1; receiver <= 10; ++receiver) edges.push_back({0, receiver, 0.1});
  EXPECT_THROW(Weights(11, edges), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::graph
