#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "algorithm/variants.h"
#include "hearsay/core/error.h"

/// Every method of the registry fulfils the contract in algorithm.h.
namespace hearsay::algorithm {
namespace {

class AlgorithmContract : public ::testing::TestWithParam<Variant> {};

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
  EXPECT_LT(world.drift(), 2e-7);
  if (GetParam().needs().graph != Needs::Graph::kNone) {
    EXPECT_GT(world.drift(), 0) << "nothing was measured";
  }
  for (float value : world.models()) ASSERT_TRUE(std::isfinite(value));
}

/// Copies everything in a state list, like a checkpoint.
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
      if (const backend::Array* array = rows_of(item.place)) {
        std::ranges::copy(copy.rows[r++], array->block().data);
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
  /// The rows of the bank's own peers, if the item has one row per peer; the bank holds all n.
  static backend::Array* rows_of(const backend::StateList::Place& place) {
    if (const auto* shared = std::get_if<backend::RowsAndReplicas>(&place)) return shared->rows;
    const auto* own = std::get_if<backend::Array*>(&place);
    return own != nullptr ? *own : nullptr;
  }

  template <class Push, class Rows>
  void visit(World& world, const Push& push, const Rows& take_rows) {
    backend::StateList list;
    world.algorithm().state(list);
    for (const auto& item : list.items()) {
      if (backend::Array* array = rows_of(item.place)) {
        take_rows(*array);
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
    // The other world has run as many rounds, with other gradients: all its state must be
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
  const Needs& needs = GetParam().needs();
  World::Setup setup = setup_for(GetParam());
  setup.lossy = true;
  World world(setup);
  world.start_random(true);
  for (std::uint32_t t = 0; t < 300; ++t) {
    world.run_round(0.01f, pull_apart, false, [&](const graph::Edge& edge) {
      return Random(edge.sender, Purpose::kTest, edge.receiver, t).uniform() > 0.3;
    });
  }
  // Methods that need every message may diverge, but mixing still conserves mass.
  EXPECT_LT(world.drift(), 2e-7);
  if (!needs.every_message) {
    for (float value : world.models()) ASSERT_TRUE(std::isfinite(value));
  }
}

/// Error feedback and public copies start at 0 and move even peers in consensus; all other methods
/// do not.
class Agreement : public ::testing::TestWithParam<Variant> {};

TEST_P(Agreement, StaysPutWhereNothingPulls) {
  World world(setup_for(GetParam()));
  world.start_random(true);
  const std::vector<double> start = world.mean();
  for (int t = 0; t < 50; ++t) world.run_round(0.1f);
  EXPECT_LT(world.spread_around(start), 1e-6);
}

/// Callers keep views of the models: graphs on which push-sum weights stay 1 and others, with and
/// without loss.
TEST_P(AlgorithmContract, ModelsStayWhereTheyAreAfterStart) {
  for (const bool lossy : {false, true}) {
    for (const std::string& graph : {setup_for(GetParam()).graph, std::string("ring")}) {
      World::Setup setup = setup_for(GetParam());
      setup.graph = graph;
      setup.lossy = lossy;
      World world(setup);
      world.start_random(true);
      const float* const models = world.driver().models().data;
      for (std::uint32_t t = 0; t < 30; ++t) {
        world.run_round(0.01f, pull_apart, false, [&](const graph::Edge& edge) {
          return Random(edge.sender, Purpose::kTest, edge.receiver, t).uniform() > 0.3;
        });
        ASSERT_EQ(world.driver().models().data, models) << graph << " after round " << t;
      }
    }
  }
}

/// A caller whose gradients fail runs the round again.
TEST_P(AlgorithmContract, RoundWhoseGradientsFailedCanBeRunAgain) {
  const World::Setup setup = setup_for(GetParam());
  World smooth(setup), failing(setup);
  smooth.start_random(true);
  failing.start_random(true);
  for (int t = 0; t < 20; ++t) {
    smooth.run_round(0.05f, pull_apart);
    if (t % 3 == 0) {
      const auto fail = [](auto, auto, auto) { throw RunFailed("no gradient"); };
      EXPECT_THROW(failing.run_round(0.05f, fail), RunFailed);
    }
    failing.run_round(0.05f, pull_apart);
  }
  EXPECT_EQ(smooth.models(), failing.models());
  EXPECT_EQ(smooth.driver().ledger().traffic().bytes, failing.driver().ledger().traffic().bytes);
  EXPECT_EQ(smooth.driver().ledger().totals(0).loss_sum,
            failing.driver().ledger().totals(0).loss_sum);
}

TEST_P(AlgorithmContract, RefusesParametersItDoesNotHave) {
  World::Setup setup = setup_for(GetParam());
  setup.algorithm = std::string(GetParam().entry->name) + ":nonsense=1";
  EXPECT_THROW(World(setup).start_random(), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Registry, AlgorithmContract, ::testing::ValuesIn(variants()), name_of);

INSTANTIATE_TEST_SUITE_P(Registry, Agreement, ::testing::ValuesIn([] {
                           std::vector<Variant> all = variants();
                           std::erase_if(all, [](const Variant& variant) {
                             return variant.needs().compression == Needs::Compression::kContractive;
                           });
                           return all;
                         }()),
                         name_of);

}  // namespace
}  // namespace hearsay::algorithm
