#include <gtest/gtest.h>

#include <cmath>

#include "algorithm/world.h"
#include "hearsay/algorithm/method/averaging_rate.h"

/// What the papers prove, one test each; where a wrong form is known, it serves as a control that
/// must fail.
namespace hearsay::algorithm {
namespace {

std::vector<double> start_mean(World& world) {
  std::vector<double> mean(world.algorithm().initial().dim, 0.0);
  for (std::size_t i = 0; i < world.peers(); ++i) {
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] += static_cast<double>(world.algorithm().initial().row(i)[k]) /
                 static_cast<double>(world.peers());
    }
  }
  return mean;
}

TEST(PushSum, ReachesTheTrueMeanOnTheDirectedRingOfFigure5) {
  World world({.algorithm = "sgp", .graph = "sparse-push:a"});
  world.start_random();
  const auto mean = start_mean(world);
  for (int t = 0; t < 200; ++t) world.run_round();
  EXPECT_LT(world.spread_around(mean), 1e-6);
  const double expected[] = {0.8, 1.2, 0.8, 1.2};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(world.algorithm().push_sum()[i], expected[i], 1e-6);

  World control({.algorithm = "dsgd", .graph = "sparse-push:a"});
  control.start_random();
  for (int t = 0; t < 200; ++t) control.run_round();
  EXPECT_GT(control.spread_around(mean), 0.1)
      << "without push-sum the directed ring must be biased";
}

TEST(PushSum, LossWithoutWordToTheSenderLosesMass) {
  // The control for AlgorithmContract.ConservesMassWhenMessagesAreLost: plain push-sum, whose
  // sender debits what it sent whether or not it arrived.
  Random random(3, Purpose::kTest);
  double told[2] = {1, 1}, untold[2] = {1, 1};
  for (int t = 0; t < 100; ++t) {
    const bool arrives[2] = {random.uniform() > 0.3, random.uniform() > 0.3};
    const auto mix = [&](double* u, bool debit_lost) {
      const double sent[2] = {u[0] / 2, u[1] / 2};
      for (int i : {0, 1}) {
        if (arrives[i] || debit_lost) u[i] -= sent[i];
        if (arrives[i]) u[1 - i] += sent[i];
      }
    };
    mix(told, false);
    mix(untold, true);
  }
  EXPECT_NEAR(told[0] + told[1], 2, 1e-12);
  EXPECT_LT(untold[0] + untold[1], 1e-3);
}

class OnePeerExponential : public ::testing::TestWithParam<std::size_t> {};

TEST_P(OnePeerExponential, AveragesExactlyAfterLog2Rounds) {
  const std::size_t n = GetParam();
  World world({.algorithm = "dsgd", .graph = "one-peer-exponential", .peers = n});
  world.start_random();
  const auto mean = start_mean(world);
  for (std::size_t t = 1; t < n; t *= 2) {
    EXPECT_GT(world.spread_around(mean), 1e-2);  // not before
    world.run_round();
  }
  EXPECT_LT(world.spread_around(mean), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(PowersOfTwo, OnePeerExponential, ::testing::Values(2, 4, 8, 16, 32, 64));

void pull(std::size_t peer, std::span<const float> at, std::span<float> direction) {
  for (std::size_t k = 0; k < at.size(); ++k) {
    direction[k] = at[k] - static_cast<float>(std::cos(static_cast<double>(3 * peer + k)));
  }
}

TEST(SparsePush, WithoutCompressionOnDoublyStochasticWeightsIsDsgd) {
  World sparse_push({.algorithm = "sparse-push:eta=1", .graph = "exponential", .peers = 7});
  World dsgd({.algorithm = "dsgd", .graph = "exponential", .peers = 7});
  sparse_push.start_random();
  dsgd.start_random();
  for (int t = 0; t < 50; ++t) {
    sparse_push.run_round(0.1f, pull);
    dsgd.run_round(0.1f, pull);
  }
  EXPECT_LT(largest_difference(sparse_push, dsgd), 1e-5);
  EXPECT_GT(dsgd.spread(), 1e-2) << "peers that agree would prove nothing";
}

TEST(Scsp, FinalRoundsShrinkTheConsensusDistanceByTheSecondEigenvalue) {
  World world({.algorithm = "scsp", .graph = "sparse-push:a", .compressor = "topk:keep=0.1"});
  world.start_random();
  // Plain push-sum from here: the modulus belongs to a complex pair, so compare over many rounds.
  const double lambda = world.facts().second_modulus;
  EXPECT_NEAR(std::pow(lambda, 50), 3.0e-8, 0.1e-8);
  const double before = world.spread();
  for (int t = 0; t < 24; ++t) world.run_round(0, nullptr, true);
  const double shrink = world.spread() / before;
  EXPECT_GT(shrink, 0.1 * std::pow(lambda, 24));
  EXPECT_LT(shrink, 10 * std::pow(lambda, 24));
  for (int t = 0; t < 26; ++t) world.run_round(0, nullptr, true);
  EXPECT_LT(world.spread() / before, 1e-6);

  // The control: the same rounds at the training rate of top-1 % have almost no effect.
  World slow({.algorithm = "sparse-push:eta=0.005", .graph = "sparse-push:a"});
  slow.start_random();
  for (int t = 0; t < 50; ++t) slow.run_round();
  EXPECT_NEAR(slow.spread() / before, 0.88, 0.04);
}

TEST(Scsp, AutoFinalRoundsShrinkToAThousandth) {
  World world(
      {.algorithm = "scsp", .graph = "ring:directed", .peers = 9, .compressor = "topk:keep=0.1"});
  world.start_random();
  const double before = world.spread();
  for (std::uint32_t t = 0; t < world.algorithm().final_rounds(); ++t)
    world.run_round(0, nullptr, true);
  EXPECT_LT(world.spread() / before, 2e-3);
  EXPECT_GT(world.spread() / before, 1e-5) << "far more rounds than needed";
  World as_given({.algorithm = "scsp:final=17", .graph = "ring"});
  as_given.start_random();
  EXPECT_EQ(as_given.algorithm().final_rounds(), 17u);
}

TEST(Pga, WithPeriodOneIsPsgd) {
  World pga({.algorithm = "pga:period=1", .peers = 5});
  World psgd({.algorithm = "psgd", .peers = 5});
  pga.start_random();
  psgd.start_random();
  for (int t = 0; t < 20; ++t) {
    pga.run_round(0.1f, pull);
    psgd.run_round(0.1f, pull);
  }
  EXPECT_EQ(pga.models(), psgd.models());
}

TEST(Aga, PeriodGrowsWithTheFourthRootOfTheLossRatio) {
  World world({.algorithm = "aga:period=3", .peers = 4});
  world.start_random(true);
  const auto rounds_until_average = [&] {
    int rounds = 0;
    do {
      world.run_round(0.1f, pull);
      ++rounds;
    } while (world.driver().plan().talk != Plan::Talk::kGlobal);
    return rounds;
  };
  world.set_losses(16);
  EXPECT_EQ(rounds_until_average(), 3);
  world.set_losses(1);  // averaged along with the next global average
  EXPECT_EQ(rounds_until_average(), 3);
  EXPECT_EQ(rounds_until_average(), 6);  // (16 / 1)^(1/4) * 3
}

TEST(QuantSgp, ReachesTheMeanWhereThePrintedFormDoesNot) {
  const std::vector<std::vector<double>> start{{1}, {3}, {5}, {7}};
  World world({.algorithm = "quant-sgp:eta=1", .graph = "sparse-push:a", .dim = 1});
  world.start_from(start);
  for (int t = 0; t < 300; ++t) world.run_round();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(world.model(i)[0], 4.0, 1e-5);

  // As printed in the paper: x_i += eta sum_j (W_ij - I_ij)(hat_j - hat_i), hats equal to x without
  // compression.
  const auto schedule = graph::make_schedule("sparse-push:a", {4, 1});
  const graph::Weights& w = schedule->at(0, 0);
  std::vector<double> x{1, 3, 5, 7}, u(4, 1.0);
  for (int t = 0; t < 300; ++t) {
    std::vector<double> next_x = x, next_u(4);
    for (std::size_t i = 0; i < 4; ++i) {
      next_u[i] = w.self(i) * u[i];
      for (const graph::Edge& edge : w.into(i)) {
        next_x[i] += edge.weight * (x[edge.sender] - x[i]);
        next_u[i] += edge.weight * u[edge.sender];
      }
    }
    x = next_x;
    u = next_u;
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_GT(std::abs(x[i] / u[i] - 4.0), 0.5);
}

TEST(Table5, HoldsAtItsRowsAndBetween) {
  EXPECT_DOUBLE_EQ(table5_rate(1), 1);
  EXPECT_NEAR(table5_rate(0.5), 0.08, 1e-12);
  EXPECT_NEAR(table5_rate(0.1), 0.01, 1e-12);
  EXPECT_NEAR(table5_rate(0.01), 0.005, 1e-12);
  EXPECT_NEAR(table5_rate(0.001), 0.001, 1e-12);
  EXPECT_NEAR(table5_rate(std::sqrt(0.1 * 0.01)), std::sqrt(0.01 * 0.005), 1e-12);
  EXPECT_NEAR(table5_rate(1e-4), 0.0002, 1e-12);
  for (double keep = 1e-5; keep < 0.9; keep *= 1.1)
    EXPECT_LT(table5_rate(keep), table5_rate(1.1 * keep));
}

}  // namespace
}  // namespace hearsay::algorithm
