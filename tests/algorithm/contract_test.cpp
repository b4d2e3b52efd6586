#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "algorithm/world.h"
#include "hearsay/core/error.h"

/// Every method of the registry keeps the contract written in algorithm.h.
namespace hearsay::algorithm {
namespace {

/// Surroundings that suit the method: the hardest graph it takes, top-k where it compresses.
World::Setup setup_for(const Entry& entry) {
  World::Setup setup{.algorithm = std::string(entry.example), .peers = 5, .dim = 23};
  switch (entry.needs.graph) {
    case Needs::Graph::kColumnStochastic:
      setup.graph =
          entry.needs.change == Needs::Change::kAny ? "random:p=0.4,every=1" : "random:p=0.4";
      break;
    case Needs::Graph::kDoublyStochastic:
      setup.graph = "one-peer-exponential";
      break;
    default:
      setup.graph = "ring";
  }
  if (entry.needs.compression == Needs::Compression::kContractive) {
    setup.compressor = "topk:keep=0.1";
  }
  return setup;
}

/// Pull every peer towards its own point: heterogeneous quadratics.
void pull_apart(std::size_t peer, std::span<const float> at, std::span<float> direction) {
  for (std::size_t k = 0; k < at.size(); ++k) {
    direction[k] = at[k] - static_cast<float>(std::sin(static_cast<double>(7 * peer + k)));
  }
}

class AlgorithmContract : public ::testing::TestWithParam<Entry> {};

TEST_P(AlgorithmContract, ConservesMassOverTenThousandRoundsOnRandomGraphs) {
  World::Setup setup = setup_for(GetParam());
  World world(setup);
  world.start_random(true);
  for (int t = 0; t < 10'000; ++t) {
    world.run_round(0.01f, pull_apart);
    const auto u = world.algorithm().push_sum();
    if (u.empty()) continue;
    const double total = std::accumulate(u.begin(), u.end(), 0.0);
    ASSERT_NEAR(total, static_cast<double>(world.peers()),
                1e-9 * static_cast<double>(world.peers()));
  }
  EXPECT_LT(world.meter.drift(), 2e-7);
  for (float value : world.models()) ASSERT_TRUE(std::isfinite(value));
}

TEST_P(AlgorithmContract, GivesTheSameBitsForAnyNumberOfThreads) {
  World::Setup setup = setup_for(GetParam());
  std::vector<float> first;
  for (std::size_t threads : {1u, 2u, 3u}) {
    setup.threads = threads;
    World world(setup);
    world.start_random(true);
    for (int t = 0; t < 40; ++t) world.run_round(0.05f, pull_apart);
    if (threads == 1) first = world.models();
    EXPECT_EQ(std::memcmp(first.data(), world.models().data(), first.size() * sizeof(float)), 0);
  }
}

/// Copies what a state list names, as a checkpoint would.
struct Snapshot {
  std::vector<std::vector<float>> rows;
  std::vector<std::vector<double>> doubles;
  std::vector<std::uint64_t> counts;
  std::vector<double> reals;

  explicit Snapshot(World& world) {
    visit(
        world, [](auto& saved, auto& live) { saved.push_back(live); },
        [this](backend::Array& array) {
          const backend::Block block = array;
          rows.emplace_back(block.data, block.data + block.size());
        });
  }
  void restore(World& world) const {
    Snapshot copy = *this;
    std::size_t r = 0, d = 0, c = 0, v = 0;
    backend::StateList list;
    world.algorithm().state(list);
    for (const auto& item : list.items()) {
      if (const auto* array = std::get_if<backend::Array*>(&item.place)) {
        std::ranges::copy(copy.rows[r++], (*array)->block().data);
      } else if (const auto* values = std::get_if<std::vector<double>*>(&item.place)) {
        **values = copy.doubles[d++];
      } else if (const auto* count = std::get_if<std::uint64_t*>(&item.place)) {
        **count = copy.counts[c++];
      } else {
        *std::get<double*>(item.place) = copy.reals[v++];
      }
    }
    world.algorithm().restored();
  }

 private:
  template <class Push, class Rows>
  void visit(World& world, const Push& push, const Rows& take_rows) {
    backend::StateList list;
    world.algorithm().state(list);
    for (const auto& item : list.items()) {
      if (const auto* array = std::get_if<backend::Array*>(&item.place)) {
        take_rows(**array);
      } else if (const auto* values = std::get_if<std::vector<double>*>(&item.place)) {
        push(doubles, **values);
      } else if (const auto* count = std::get_if<std::uint64_t*>(&item.place)) {
        push(counts, **count);
      } else {
        push(reals, *std::get<double*>(item.place));
      }
    }
  }
};

TEST_P(AlgorithmContract, GoesOnBitExactlyFromItsState) {
  const World::Setup setup = setup_for(GetParam());
  for (int broken_at : {1, 7, 20}) {
    World unbroken(setup), resumed(setup);
    unbroken.start_random(true);
    resumed.start_random(true);
    for (int t = 0; t < broken_at; ++t) unbroken.run_round(0.05f, pull_apart);
    const Snapshot snapshot(unbroken);
    // The other world has seen as many rounds, with other gradients: all it did must be
    // overwritten.
    for (int t = 0; t < broken_at; ++t)
      resumed.run_round(0.2f, [](auto, auto, auto d) { d[0] = 1; });
    snapshot.restore(resumed);
    for (int t = 0; t < 30; ++t) {
      unbroken.run_round(0.05f, pull_apart);
      resumed.run_round(0.05f, pull_apart);
    }
    EXPECT_EQ(unbroken.models(), resumed.models());
  }
}

TEST_P(AlgorithmContract, ConservesMassWhenMessagesAreLost) {
  const Needs& needs = GetParam().needs;
  World world(setup_for(GetParam()));
  world.start_random(true);
  Random random(5, Purpose::kTest);
  for (int t = 0; t < 300; ++t) {
    world.run_round(0.01f, pull_apart, false,
                    [&](const graph::Edge&) { return random.uniform() > 0.3; });
  }
  // Methods that need every message may go astray, but mixing still moves and does not make mass.
  EXPECT_LT(world.meter.drift(), 2e-7);
  if (!needs.every_message) {
    for (float value : world.models()) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(AlgorithmContract, StaysPutWhereAllAgreeAndNothingPulls) {
  if (GetParam().needs.compression == Needs::Compression::kContractive) {
    // Error feedback and hats start empty: they stir even agreeing peers. Their limits are tested
    // with the theorems.
    return;
  }
  World world(setup_for(GetParam()));
  world.start_random(true);
  const std::vector<double> start = world.mean();
  for (int t = 0; t < 50; ++t) world.run_round(0.1f);
  EXPECT_LT(world.spread_around(start), 1e-5);
}

TEST_P(AlgorithmContract, RefusesParametersItDoesNotHave) {
  World::Setup setup = setup_for(GetParam());
  setup.algorithm = std::string(GetParam().name) + ":nonsense=1";
  EXPECT_THROW(World world(setup), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Registry, AlgorithmContract,
                         ::testing::ValuesIn(registry().begin(), registry().end()),
                         [](const auto& test) {
                           std::string name(test.param.name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace

void PrintTo(const Entry& entry, std::ostream* out) { *out << entry.name; }

}  // namespace hearsay::algorithm
