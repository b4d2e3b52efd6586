#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "algorithm/split_world.h"
#include "algorithm/variants.h"

/// Peers spread over several processes give the bits of a single one, for every row of the
/// registry.
namespace hearsay::algorithm {
namespace {

/// Graphs that the method accepts: the hardest, and those that stay the same for some rounds.
std::vector<std::string> graphs_for(const Variant& variant) {
  std::vector<std::string> graphs = {setup_for(variant).graph};
  if (variant.needs().change == Needs::Change::kStatic) return graphs;
  graphs.emplace_back("cycle:ring+star,every=3");
  if (variant.needs().graph == Needs::Graph::kColumnStochastic) {
    graphs.emplace_back("random:p=0.4,every=3");
  }
  return graphs;
}

/// Random selection, stochastic rounding, and deterministic operators.
std::vector<std::string> compressors_for(const Variant& variant) {
  switch (variant.needs().compression) {
    case Needs::Compression::kRefused:
      return {"identity"};
    case Needs::Compression::kMild:
      return {"qsgd:bits=8", "identity"};
    default:
      return {"randk:keep=0.2", "qsgd:bits=8", "topk:keep=0.1", "identity"};
  }
}

/// The method's spec, with an explicit eta if it has no automatic one for the compressor.
std::string spec_for(const Variant& variant, const std::string& compressor) {
  const std::string unknown = "eta=auto";
  std::string spec = variant.spec;
  const std::size_t at = spec.find(unknown);
  if (at == std::string::npos || compressor.starts_with("topk")) return spec;
  return spec.replace(at, unknown.size(), "eta=0.1");
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size() || a.empty()) return a.size() == b.size();
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

class Split : public ::testing::TestWithParam<Variant> {
 protected:
  /// Compare one bank with that of several processes.
  static void compare(const World::Setup& setup, std::size_t processes) {
    SCOPED_TRACE(setup.graph + ", " + setup.compressor + ", " + std::to_string(processes) +
                 " processes");
    World one(setup);
    SplitWorld several(setup, processes);
    one.start_random();
    several.start_random();
    for (int t = 0; t < 14; ++t) {
      const double loss = 1.0 / (1 + t);
      one.set_losses(loss);
      one.run_round(0.05f, pull_apart);
      several.run_round(0.05f, pull_apart, loss);
      const std::span<const double> u = one.algorithm().push_sum();
      ASSERT_TRUE(same_bits(one.models(), several.models())) << "models after round " << t;
      ASSERT_TRUE(same_bits({u.begin(), u.end()}, several.push_sum())) << "u after round " << t;
      for (const SplitWorld::Copy& copy : several.copies()) {
        ASSERT_TRUE(same_bits(copy.replica, copy.owner)) << "a copy after round " << t;
      }
    }
    EXPECT_TRUE(std::ranges::all_of(one.models(), [](float v) { return std::isfinite(v); }));
  }
};

TEST_P(Split, OverBanksChangesNoBit) {
  World::Setup setup = setup_for(GetParam());
  setup.dim = 307;
  for (const std::string& graph : graphs_for(GetParam())) {
    for (const std::string& compressor : compressors_for(GetParam())) {
      setup.algorithm = spec_for(GetParam(), compressor);
      setup.graph = graph;
      setup.compressor = compressor;
      compare(setup, 2);
      compare(setup, 3);
    }
  }
}

/// The tile length of a bank of five rows differs from that of a bank of two.
TEST_P(Split, OverBanksChangesNoBitOfLargeModels) {
  World::Setup setup = setup_for(GetParam());
  setup.dim = 20'011;
  setup.threads = 2;
  compare(setup, 2);
}

INSTANTIATE_TEST_SUITE_P(Registry, Split, ::testing::ValuesIn(variants()), name_of);

/// Only methods that compress differences keep remote replicas; this ensures that the comparison of
/// copies above is not empty.
TEST(SplitCopies, AreKeptByMethodsThatCompressDifferences) {
  for (const char* method : {"choco", "quant-sgp", "qg-choco", "qg-quant-sgp", "dcd", "ecd"}) {
    SplitWorld world({.algorithm = method, .peers = 5}, 2);
    world.start_random();
    world.run_round(0.05f, pull_apart, 1);
    EXPECT_EQ(world.copies().size(), 4u) << method;  // ring: two neighbours of each bank
  }
}

}  // namespace
}  // namespace hearsay::algorithm
