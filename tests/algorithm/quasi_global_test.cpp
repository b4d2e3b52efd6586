#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "algorithm/variants.h"
#include "algorithm/world.h"

/// Quasi-global momentum over compressed differences.
namespace hearsay::algorithm {
namespace {

/// Two worlds that start alike, `rounds` later.
double difference_after(int rounds, const World::Setup& one, const World::Setup& other) {
  World a(one), b(other);
  a.start_random(true);
  b.start_random(true);
  for (int t = 0; t < rounds; ++t) {
    const float lr = t < rounds / 2 ? 0.1f : 0.02f;
    a.run_round(lr, pull_apart);
    b.run_round(lr, pull_apart);
  }
  EXPECT_GT(b.spread(), 1e-3) << "peers that agree would prove nothing";
  return largest_difference(a, b);
}

TEST(QuasiGlobal, WithoutCompressionIsQgDmsgd) {
  for (const char* form : {"beta=0.9,mu=0.1", "beta=0.7,mu=0.3,nesterov=1"}) {
    const std::string parameters = form;
    for (const char* graph : {"ring", "exponential"}) {
      const World::Setup plain{.algorithm = "qg-dmsgd:" + parameters, .graph = graph, .peers = 7};
      World::Setup push = plain;
      push.algorithm = "qg-quant-sgp:eta=1," + parameters;
      EXPECT_LT(difference_after(60, push, plain), 2e-5) << form << " on " << graph;
    }
    const World::Setup plain{.algorithm = "qg-dmsgd:" + parameters, .peers = 7};
    const World::Setup choco{.algorithm = "qg-choco:eta=1," + parameters, .peers = 7};
    EXPECT_LT(difference_after(60, choco, plain), 2e-5) << form;
  }
  // The control: another mu is another method.
  EXPECT_GT(difference_after(60, {.algorithm = "qg-choco:eta=1,mu=0.2", .peers = 7},
                             {.algorithm = "qg-dmsgd", .peers = 7}),
            1e-3);
}

TEST(QuasiGlobal, WithoutMomentumIsTheMethodAroundIt) {
  for (const auto& [qg, plain, graph] :
       {std::tuple{"qg-choco:beta=0", "choco", "ring"},
        std::tuple{"qg-quant-sgp:beta=0", "quant-sgp", "sparse-push:a"}}) {
    const World::Setup setup{.algorithm = plain, .graph = graph, .compressor = "topk:keep=0.3"};
    World::Setup with = setup;
    with.algorithm = qg;
    EXPECT_EQ(difference_after(40, with, setup), 0) << qg;
  }
}

/// On a graph whose push-sum weights move, peers that agree and have no gradient must stay: nothing
/// but mixing moves x, and nothing moves z.
TEST(QuasiGlobal, FollowsTheModelAndNotTheNumerator) {
  World world({.algorithm = "qg-quant-sgp:eta=1", .graph = "sparse-push:a"});
  world.start_random(true);
  const std::vector<double> start = world.mean();
  for (int t = 0; t < 60; ++t) world.run_round(0.1f);
  EXPECT_LT(world.spread_around(start), 1e-5);

  // The control, in doubles for one entry that is 1 at every peer: as the authors' code has it, the
  // movement by mixing is that of x over u.
  const auto schedule = graph::make_schedule("sparse-push:a", {4, 1});
  const graph::Weights& w = schedule->at(0, 0);
  std::vector<double> x(4, 1.0), u(4, 1.0), m(4, 0.0);
  double furthest = 0;
  for (int t = 0; t < 60; ++t) {
    for (std::size_t i = 0; i < 4; ++i) x[i] -= 0.1 * 0.9 * m[i];
    std::vector<double> next_x(4), next_u(4);
    for (std::size_t i = 0; i < 4; ++i) {
      next_x[i] = w.self(i) * x[i];
      next_u[i] = w.self(i) * u[i];
      for (const graph::Edge& edge : w.into(i)) {
        next_x[i] += edge.weight * x[edge.sender];
        next_u[i] += edge.weight * u[edge.sender];
      }
    }
    for (std::size_t i = 0; i < 4; ++i) {
      m[i] = 0.9 * m[i] + 0.1 * 0.9 * m[i] - 0.1 * (next_x[i] - x[i]) / (0.1 * u[i]);
      furthest = std::max(furthest, std::abs(next_x[i] / next_u[i] - 1));
    }
    x = next_x;
    u = next_u;
  }
  EXPECT_GT(furthest, 0.01);
}

/// All curvatures are equal, so the mean of the peers' models reaches the optimum, the mean of
/// their own optima, at any constant rate.
TEST(QuasiGlobal, ReachesTheOptimumOnDirectedGraphs) {
  const std::size_t dim = 10;
  const auto distance = [&](const std::vector<double>& mean) {
    double largest = 0;
    for (std::size_t k = 0; k < dim; ++k) {
      double optimum = 0;
      for (std::size_t i = 0; i < 4; ++i) optimum += std::sin(static_cast<double>(7 * i + k)) / 4;
      largest = std::max(largest, std::abs(mean[k] - optimum));
    }
    return largest;
  };
  for (const char* compressor : {"identity", "topk:keep=0.2"}) {
    for (const char* method : {"qg-quant-sgp:eta=0.1", "qg-quant-sgp:eta=0.1,nesterov=1"}) {
      World world(
          {.algorithm = method, .graph = "sparse-push:a", .compressor = compressor, .dim = dim});
      world.start_random(true);
      for (int t = 0; t < 4'000; ++t) world.run_round(0.01f, pull_apart);
      EXPECT_LT(distance(world.mean()), 1e-3) << method << " with " << compressor;
    }
  }

  // The control, in doubles, without compression: m as in the authors' code.
  const auto schedule = graph::make_schedule("sparse-push:a", {4, 1});
  const graph::Weights& w = schedule->at(0, 0);
  std::vector<double> u(4, 1.0);
  std::vector<std::vector<double>> x(4, std::vector<double>(dim, 1.0)), m(4, std::vector(dim, 0.0));
  for (int t = 0; t < 4'000; ++t) {
    auto half = x, own = m;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < dim; ++k) {
        const double d = x[i][k] / u[i] - std::sin(static_cast<double>(7 * i + k));
        own[i][k] = 0.9 * m[i][k] + d;
        half[i][k] -= 0.01 * own[i][k];
      }
    }
    std::vector<double> next_u = u;
    for (std::size_t i = 0; i < 4; ++i) {
      for (const graph::Edge& edge : w.into(i)) next_u[i] += 0.1 * edge.weight * u[edge.sender];
      next_u[i] += 0.1 * (w.self(i) - 1) * u[i];
      for (std::size_t k = 0; k < dim; ++k) {
        double moved = 0.1 * (w.self(i) - 1) * half[i][k];
        for (const graph::Edge& edge : w.into(i)) {
          moved += 0.1 * edge.weight * half[edge.sender][k];
        }
        x[i][k] = half[i][k] + moved;
        m[i][k] = 0.9 * m[i][k] + 0.1 * (own[i][k] - moved / (0.01 * u[i]));
      }
    }
    u = next_u;
  }
  std::vector<double> mean(dim, 0.0);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < dim; ++k) mean[k] += x[i][k] / u[i] / 4;
  }
  EXPECT_GT(distance(mean), 0.01);
}

/// A peer with u below b must not amplify its own steps: with m in place of u m these diverge.
TEST(QuasiGlobal, IsStableWhereMixingIsSlow) {
  World world({.algorithm = "qg-quant-sgp:eta=0.01",
               .graph = "random:p=0.4",
               .peers = 5,
               .compressor = "topk:keep=0.1",
               .dim = 23});
  world.start_random(true);
  for (int t = 0; t < 6'000; ++t) world.run_round(0.01f, pull_apart);
  EXPECT_LT(*std::ranges::min_element(world.algorithm().push_sum()), 0.9);
  EXPECT_LT(world.spread(), 10);
}

TEST(QuasiGlobal, DoesNotChangeItsMomentumInRoundsWithoutRate) {
  const World::Setup setup{.algorithm = "qg-quant-sgp:eta=1", .graph = "ring"};
  World through(setup), paused(setup);
  through.start_random(true);
  paused.start_random(true);
  const auto everywhere_the_same = [](std::size_t, std::span<const float>, std::span<float> d) {
    std::ranges::fill(d, 1.0f);
  };
  for (int t = 0; t < 20; ++t) {
    through.run_round(0.05f, everywhere_the_same);
    paused.run_round(0.05f, everywhere_the_same);
    paused.run_round(0.0f, everywhere_the_same);
  }
  EXPECT_LT(largest_difference(through, paused), 1e-5);
  for (float value : paused.models()) ASSERT_TRUE(std::isfinite(value));
}

/// Errors of 8-bit differences shrink with the rate, and do not swamp a momentum that is divided by
/// it.
TEST(QuasiGlobal, TakesMessagesOf8BitsAtSmallRates) {
  constexpr float kRate = 1e-3f;
  const auto after = [&](const char* compressor) {
    World world({.algorithm = "qg-choco", .peers = 5, .compressor = compressor, .dim = 50});
    world.start_random(true);
    for (int t = 0; t < 3'000; ++t) world.run_round(kRate, pull_apart);
    return world.models();
  };
  const std::vector<float> exact = after("identity"), bytes = after("int8");
  double largest = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    largest = std::max(largest, static_cast<double>(std::abs(exact[k] - bytes[k])));
  }
  EXPECT_LT(largest, 1e-3);

  // The control: models sent rounded, x = W Q[x - g (b m + d)], with m as in qg-dmsgd, in doubles.
  // Steps of Q are max / 127, about 0.02, and enter m as 0.02 / g.
  World start({.algorithm = "qg-choco", .peers = 5, .dim = 50});
  start.start_random(true);
  std::vector<std::vector<double>> x(5), m(5, std::vector<double>(50, 0.0));
  for (std::size_t i = 0; i < 5; ++i) x[i] = {start.model(i).begin(), start.model(i).end()};
  double momentum = 0;
  for (int t = 0; t < 100; ++t) {
    auto q = x;
    for (std::size_t i = 0; i < 5; ++i) {
      double most = 0;
      for (std::size_t k = 0; k < 50; ++k) {
        const double d = x[i][k] - std::sin(static_cast<double>(7 * i + k));
        q[i][k] -= static_cast<double>(kRate) * (0.9 * m[i][k] + d);
        most = std::max(most, std::abs(q[i][k]));
      }
      for (double& value : q[i]) value = std::nearbyint(value * 127 / most) * most / 127;
    }
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t k = 0; k < 50; ++k) {
        const double next = (q[(i + 4) % 5][k] + q[i][k] + q[(i + 1) % 5][k]) / 3;
        m[i][k] = 0.9 * m[i][k] + 0.1 * (x[i][k] - next) / static_cast<double>(kRate);
        x[i][k] = next;
        if (t < 20) momentum = std::max(momentum, std::abs(m[i][k]));
      }
    }
  }
  EXPECT_GT(momentum, 1) << "the directions of the method itself are below 2, its m below 1";
}

}  // namespace
}  // namespace hearsay::algorithm
