#include <gtest/gtest.h>

#include <cmath>

#include "algorithm/world.h"

/// Pure averaging under compression: what error feedback and difference compression can and cannot
/// do.
namespace hearsay::algorithm {
namespace {

constexpr std::size_t kDim = 1000;  // top-1 %: 10 entries per message

/// Spread after `rounds` of pure averaging, relative to the start; mean of the last tenth.
double plateau(const std::string& algorithm, const std::string& graph, std::size_t peers,
               const std::string& compressor, int rounds) {
  World world({.algorithm = algorithm,
               .graph = graph,
               .peers = peers,
               .compressor = compressor,
               .dim = kDim,
               .threads = 1});
  world.start_random();
  const double before = world.spread();
  double late = 0;
  const int stretch = rounds / 10;
  for (int t = 0; t < rounds; ++t) {
    world.run_round();
    if (t >= rounds - stretch) late += world.spread() / stretch;
  }
  return late / before;
}

TEST(ErrorFeedback, PlateausProportionallyToTheAveragingRate) {
  for (const auto& [method, graph] : {std::pair<std::string, std::string>{"deep-squeeze", "ring"},
                                      {"sparse-push", "sparse-push:a"}}) {
    const double coarse = plateau(method + ":eta=0.004", graph, 4, "topk:keep=0.01", 8'000);
    const double fine = plateau(method + ":eta=0.002", graph, 4, "topk:keep=0.01", 16'000);
    EXPECT_LT(coarse, 0.5) << method;
    EXPECT_GT(fine, 1e-4) << method << " should not reach consensus";
    EXPECT_NEAR(coarse / fine, 2.0, 0.5) << method;
  }
}

TEST(DifferenceCompression, ReachesConsensusAtTopOnePercent) {
  // In floats the consensus distance stalls where eta times it is below half a unit in the last
  // place.
  EXPECT_LT(plateau("choco", "ring", 4, "topk:keep=0.01", 20'000), 1e-6);
  EXPECT_LT(plateau("quant-sgp:eta=0.04", "sparse-push:a", 4, "topk:keep=0.01", 20'000), 1e-6);
}

TEST(DifferenceCompression,
     ShrinksTheConsensusDistanceAtItsDefaultRateUnderEveryContractiveOperator) {
  for (const char* compressor : {"topk:keep=0.1", "randk:keep=0.1", "randk:keep=0.3", "qsgd:bits=4",
                                 "qsgd:bits=2", "sign"}) {
    for (const auto& [method, graph] :
         {std::pair<std::string, std::string>{"choco", "ring"}, {"quant-sgp", "random:p=0.4"}}) {
      World world(
          {.algorithm = method, .graph = graph, .peers = 8, .compressor = compressor, .dim = 300});
      world.start_random();
      const double before = world.spread();
      for (int t = 0; t < 3'000; ++t) world.run_round();
      EXPECT_LT(world.spread() / before, 0.5) << method << " with " << compressor;
    }
  }
}

/// A vector of more entries than the worst case of 8 bits allows at eta = 1: see averaging_rate.h.
constexpr std::size_t kManyEntries = 200'000;

World int8_world(const std::string& algorithm, const std::string& graph) {
  World world({.algorithm = algorithm, .graph = graph, .compressor = "int8", .dim = kManyEntries});
  // Every peer has its own outlier, as large as all other entries of its model together.
  std::vector<std::vector<double>> start(4, std::vector<double>(kManyEntries));
  for (std::size_t i = 0; i < start.size(); ++i) {
    Random random(7, Purpose::kTest, static_cast<std::uint32_t>(i));
    for (double& value : start[i]) value = random.normal();
    start[i][1000 * i] = std::sqrt(static_cast<double>(kManyEntries));
  }
  world.start_from(start);
  return world;
}

TEST(Int8, HasTheAveragingRateOne) {
  ASSERT_LT(2 * compress::make_compressor("int8")->quality(Layout(kManyEntries)), 0.5);
  for (const auto& [method, graph] : {std::pair<std::string, std::string>{"deep-squeeze", "ring"},
                                      {"sparse-push", "sparse-push:a"},
                                      {"scsp", "sparse-push:a"},
                                      {"choco", "ring"},
                                      {"quant-sgp", "sparse-push:a"},
                                      {"qg-choco", "ring"},
                                      {"qg-quant-sgp", "sparse-push:a"}}) {
    EXPECT_EQ(int8_world(method, graph).algorithm().averaging_rate(), 1) << method;
  }
}

TEST(Int8, DifferencesReachConsensusAtTheirDefaultRateAndRoundedModelsDoNot) {
  for (const auto& [method, graph] :
       {std::pair<std::string, std::string>{"choco", "ring"}, {"quant-sgp", "sparse-push:a"}}) {
    World world = int8_world(method, graph);
    const double before = world.spread();
    for (int t = 0; t < 60; ++t) world.run_round();
    EXPECT_LT(world.spread() / before, 1e-6) << method;
  }
  World world = int8_world("sparse-push", "sparse-push:a");
  const double before = world.spread();
  for (int t = 0; t < 60; ++t) world.run_round();
  EXPECT_GT(world.spread() / before, 1e-4);
}

TEST(DifferenceCompression, ReachesTheTrueMeanOnTheDirectedRing) {
  World world({.algorithm = "quant-sgp",
               .graph = "sparse-push:a",
               .compressor = "topk:keep=0.05",
               .dim = 200});
  world.start_random();
  std::vector<double> mean(200, 0.0);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < 200; ++k) mean[k] += static_cast<double>(world.model(i)[k]) / 4;
  }
  for (int t = 0; t < 5'000; ++t) world.run_round();
  EXPECT_LT(world.spread_around(mean), 1e-5);
}

TEST(DifferenceCompression, RestartsItsCopiesWhenTheGraphChanges) {
  const std::string cycle = "cycle:sparse-push:a+sparse-push:b+sparse-push:c,every=1000";
  EXPECT_LT(plateau("quant-sgp", cycle, 4, "topk:keep=0.05", 12'000), 1e-5);
}

TEST(WithoutFeedback, CompressionDestroysConsensus) {
  // x += eta (W - I) C[x] on the ring of 4, top-1 %: the control for all of the above.
  const auto compressor = compress::make_compressor("topk:keep=0.01");
  const auto schedule = graph::make_schedule("ring", {4, 1});
  const graph::Weights& w = schedule->at(0, 0);
  const Layout layout(kDim);
  World start({.algorithm = "dsgd", .dim = kDim});
  start.start_random();
  std::vector<std::vector<float>> x;
  for (std::size_t i = 0; i < 4; ++i) x.emplace_back(start.model(i).begin(), start.model(i).end());
  const double before = start.spread();
  for (int t = 0; t < 20'000; ++t) {
    std::vector<compress::Decoded> q(4);
    for (std::size_t i = 0; i < 4; ++i) {
      compressor->compress(x[i], layout, Random(1, Purpose::kTest), q[i], nullptr);
    }
    for (const graph::Edge& edge : w.edges()) {
      const compress::Decoded& sent = q[edge.sender];
      for (std::size_t k = 0; k < sent.index.size(); ++k) {
        const float moved = static_cast<float>(0.02 * edge.weight) * sent.value[k];
        x[edge.receiver][sent.index[k]] += moved;
        x[edge.sender][sent.index[k]] -= moved;
      }
    }
  }
  double square = 0;
  for (std::size_t k = 0; k < kDim; ++k) {
    double mean = 0;
    for (const auto& row : x) mean += static_cast<double>(row[k]) / 4;
    for (const auto& row : x) square += std::pow(static_cast<double>(row[k]) - mean, 2) / 4;
  }
  EXPECT_GT(std::sqrt(square) / before, 0.3);
}

TEST(UnbiasedOperators, ExplodeUnderErrorFeedback) {
  const auto growth = [](const std::string& compressor) {
    World world({.algorithm = "deep-squeeze:eta=0.1",
                 .graph = "ring",
                 .compressor = compressor,
                 .dim = 20'000});
    world.start_random();
    const double before = world.spread();
    for (int t = 0; t < 200; ++t) world.run_round();
    return world.spread() / before;
  };
  EXPECT_GT(growth("qsgd:bits=4,unbiased=1"), 1e3);
  EXPECT_LT(growth("qsgd:bits=4,unbiased=0"), 1);
}

}  // namespace
}  // namespace hearsay::algorithm
