#include "hearsay/algorithm/footprint.h"

#include <gtest/gtest.h>

#include <variant>

#include "hearsay/train/trainer.h"
#include "support/every_algorithm.h"

namespace hearsay::train {
namespace {

using algorithm::footprint_of;

/// Arrays of d floats per peer that a checkpoint must contain.
std::size_t saved_arrays(const backend::StateList& list) {
  std::size_t count = 0;
  for (const auto& item : list.items()) {
    count += std::holds_alternative<backend::Array*>(item.place) ||
             std::holds_alternative<backend::RowsAndReplicas>(item.place);
  }
  return count;
}

/// The footprint that the registry states for a method is the actual one.
class FootprintContract : public support::EveryAlgorithm {};

TEST_P(FootprintContract, KeepsSoManyArrays) {
  Trainer trainer(settings());
  trainer.run_round(false);
  backend::StateList list;
  const_cast<algorithm::Algorithm&>(trainer.algorithm()).state(list);
  const std::size_t x = 1;
  const std::size_t z = trainer.algorithm().push_sum().empty() ? 0 : 1;  // derived from the rest
  EXPECT_EQ(x + footprint_of(GetParam()).kept, saved_arrays(list) + z);
}

TEST_P(FootprintContract, SendsSoManyVectors) {
  Trainer trainer(settings());
  for (int t = 0; t < 3; ++t) trainer.run_round(false);
  trainer.drain();
  const gossip::Traffic traffic = trainer.traffic();
  EXPECT_EQ(traffic.messages, footprint_of(GetParam()).sent * traffic.edge_rounds);
  EXPECT_EQ(traffic.edge_rounds > 0, footprint_of(GetParam()).sent > 0);
}

INSTANTIATE_TEST_SUITE_P(Registry, FootprintContract, ::testing::ValuesIn(algorithm::registry()),
                         support::name_of);

TEST(Footprint, OfSparsePushIsThatOfItsPaper) {
  const auto& entry = *std::ranges::find(algorithm::registry(), "scsp", &algorithm::Entry::name);
  EXPECT_EQ(footprint_of(entry).sent, 1u) << "u rides in the header; final rounds are others";
  EXPECT_EQ(footprint_of(entry).kept, 2u) << "z and delta";
  EXPECT_FALSE(footprint_of(entry).hats);
}

}  // namespace
}  // namespace hearsay::train
