#include "hearsay/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace hearsay {
namespace {

/// The generator is the published one: known-answer tests of Philox4x32-10 (Random123's
/// kat_vectors).
TEST(Random, IsPhilox4x32WithTenRounds) {
  // Key 0 with counter 0 needs purpose 0, which no real stream has.
  const Random zero(0, static_cast<Purpose>(0));
  const std::array<std::uint32_t, 4> expected{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(zero.words(0), expected);
}

TEST(Random, WordsAreTheSameInAnyOrder) {
  Random stream(7, Purpose::kTest, 3, 11);
  const Random other = stream;
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(stream.next(), other.word(i));
}

TEST(Random, DrawsGoOnFromAnyWord) {
  for (const std::uint64_t index : {0, 1, 2, 3, 4, 5, 1000, 1003}) {
    Random read(7, Purpose::kTest), sought(7, Purpose::kTest);
    for (std::uint64_t k = 0; k < index; ++k) read.next();
    sought.next();
    sought.seek(index);
    EXPECT_EQ(sought.normal(), read.normal()) << index;
    EXPECT_EQ(sought.next(), read.next()) << index;
  }
}

TEST(Random, StreamsOfDifferentKeysDiffer) {
  std::set<std::uint32_t> first;
  for (std::uint64_t seed : {0, 1}) {
    for (Purpose purpose : {Purpose::kGraph, Purpose::kTest}) {
      for (std::uint32_t peer : {0u, 1u}) {
        for (std::uint32_t round : {0u, 1u})
          first.insert(Random(seed, purpose, peer, round).word(0));
      }
    }
  }
  EXPECT_EQ(first.size(), 16u);
}

TEST(Random, DrawsHaveTheirMoments) {
  Random stream(1, Purpose::kTest);
  double uniform = 0, normal = 0, square = 0;
  const int draws = 100'000;
  for (int i = 0; i < draws; ++i) {
    const double u = stream.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    uniform += u;
    const double z = stream.normal();
    normal += z;
    square += z * z;
  }
  EXPECT_NEAR(uniform / draws, 0.5, 0.005);
  EXPECT_NEAR(normal / draws, 0.0, 0.02);
  EXPECT_NEAR(square / draws, 1.0, 0.02);
}

TEST(Random, BelowReachesEveryValueAndNoOther) {
  Random stream(1, Purpose::kTest);
  std::array<int, 7> count{};
  for (int i = 0; i < 7000; ++i) ++count.at(stream.below(7));
  for (int c : count) EXPECT_NEAR(c, 1000, 150);
}

}  // namespace
}  // namespace hearsay
