#include "hearsay/engine/batches.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hearsay::engine {
namespace {

std::vector<std::uint32_t> read(Batches& batches, std::size_t row, std::uint32_t round) {
  std::vector<std::uint32_t> indices(batches.batch());
  batches.read(row, round, indices);
  return indices;
}

TEST(Batches, PassOverEverySampleOnceBeforeAnyTwice) {
  for (std::size_t batch : {1u, 3u, 7u, 10u, 25u}) {
    Batches batches(1, 0, 1, 10, batch);
    EXPECT_EQ(batches.rounds_per_epoch(), (10 + batch - 1) / batch);
    std::vector<std::uint32_t> list;
    for (std::uint32_t round = 0; list.size() < 100; ++round) {
      const auto part = read(batches, 0, round);
      list.insert(list.end(), part.begin(), part.end());
    }
    for (std::size_t pass = 0; pass < 10; ++pass) {
      std::vector<std::uint32_t> one(list.begin() + pass * 10, list.begin() + pass * 10 + 10);
      std::ranges::sort(one);
      EXPECT_EQ(one, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) << batch;
    }
  }
}

TEST(Batches, AreAFunctionOfSeedPeerAndRound) {
  Batches forward(1, 0, 4, 20, 6);
  std::vector<std::vector<std::uint32_t>> seen;
  for (std::uint32_t round = 0; round < 12; ++round) seen.push_back(read(forward, 2, round));
  Batches other_bank(1, 2, 1, 20, 6);
  for (std::uint32_t round = 12; round-- > 0;) EXPECT_EQ(read(other_bank, 0, round), seen[round]);

  Batches other_seed(2, 0, 4, 20, 6);
  EXPECT_NE(read(other_seed, 2, 0), seen[0]);
  EXPECT_NE(read(forward, 3, 0), seen[0]);
}

TEST(Batches, ComeInANewOrderEachPass) {
  Batches batches(1, 0, 1, 20, 20);
  EXPECT_NE(read(batches, 0, 0), read(batches, 0, 1));
}

}  // namespace
}  // namespace hearsay::engine
