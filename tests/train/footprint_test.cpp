#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "hearsay/train/trainer.h"
#include "support/every_algorithm.h"

namespace hearsay::train {
namespace {

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
  EXPECT_EQ(x + GetParam().footprint.kept, saved_arrays(list) + z);
  const auto has_replicas = [](const auto& item) {
    return std::holds_alternative<backend::RowsAndReplicas>(item.place);
  };
  EXPECT_EQ(GetParam().footprint.public_copies, std::ranges::any_of(list.items(), has_replicas));
}

TEST_P(FootprintContract, SendsSoManyVectors) {
  Trainer trainer(settings());
  for (int t = 0; t < 3; ++t) trainer.run_round(false);
  trainer.drain();
  const gossip::Traffic traffic = trainer.traffic();
  EXPECT_EQ(traffic.messages, GetParam().footprint.sent * traffic.edge_rounds);
  EXPECT_EQ(traffic.edge_rounds > 0, GetParam().footprint.sent > 0);
}

/// The words of "C[v], u; then x, u" that describe rounds with gradients: C[v] and u.
std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  list = list.substr(0, list.find(';'));
  while (!list.empty() && list != "-") {
    const std::size_t comma = std::min(list.find(", "), list.size());
    words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 2, list.size()));
  }
  return words;
}

TEST_P(FootprintContract, IsWhatTheDocsPrint) {
  const algorithm::Footprint& footprint = GetParam().footprint;
  const std::vector<std::string> sends = words_of(GetParam().sends);
  const std::vector<std::string> state = words_of(GetParam().state);
  EXPECT_EQ(footprint.sent, sends.size() - std::ranges::count(sends, "u"));
  EXPECT_EQ(footprint.kept, state.size());
  EXPECT_EQ(footprint.public_copies, std::ranges::count(state, "hats") == 1);
}

INSTANTIATE_TEST_SUITE_P(Registry, FootprintContract, ::testing::ValuesIn(algorithm::registry()),
                         support::name_of);

TEST(Footprint, OfSparsePushIsThatOfItsPaper) {
  const auto& entry = *std::ranges::find(algorithm::registry(), "scsp", &algorithm::Entry::name);
  EXPECT_EQ(entry.footprint.sent, 1u) << "u rides in the header; final rounds are others";
  EXPECT_EQ(entry.footprint.kept, 2u) << "z and delta";
  EXPECT_FALSE(entry.footprint.public_copies);
}

}  // namespace
}  // namespace hearsay::train
