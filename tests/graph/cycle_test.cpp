#include <gtest/gtest.h>

#include "graph/matrices.h"

namespace hearsay::graph {
namespace {

using Change = Schedule::Change;

TEST(Cycle, SwitchesEveryRoundByDefault) {
  const auto cycle = make_schedule("cycle:ring+star", {.peers = 5});
  EXPECT_EQ(cycle->change(), Change::kEveryRound);
  EXPECT_EQ(dense(cycle->at(0, 0)), dense(weights_of("ring", 5)));
  EXPECT_EQ(dense(cycle->at(1, 0)), dense(weights_of("star", 5)));
  EXPECT_EQ(dense(cycle->at(2, 0)), dense(weights_of("ring", 5)));
  EXPECT_EQ(cycle->period().size(), 2u);
}

TEST(Cycle, SwitchesEveryFewRounds) {
  const auto cycle = make_schedule("cycle:ring+ring:directed+star,every=4", {.peers = 5});
  EXPECT_EQ(cycle->change(), Change::kPhases);
  for (std::uint64_t round = 0; round < 30; ++round) EXPECT_EQ(cycle->phase(round, 9), round / 4);
  EXPECT_EQ(dense(cycle->at(7, 0)), dense(weights_of("ring:directed", 5)));
  EXPECT_EQ(dense(cycle->at(11, 0)), dense(weights_of("star", 5)));
  EXPECT_EQ(dense(cycle->at(12, 0)), dense(weights_of("ring", 5)));
  ASSERT_EQ(cycle->period().size(), 12u);
  EXPECT_EQ(dense(cycle->period()[7]), dense(weights_of("ring:directed", 5)));
}

TEST(Cycle, SwitchesEveryFewEpochs) {
  const auto cycle = make_schedule("cycle:sparse-push:a+sparse-push:b,every=11epochs", {});
  EXPECT_EQ(cycle->peers(), 4u);
  EXPECT_EQ(cycle->change(), Change::kPhases);
  EXPECT_EQ(cycle->phase(1000, 10), 0u);
  EXPECT_EQ(cycle->phase(1000, 11), 1u);
  EXPECT_EQ(dense(cycle->at(0, 11)), dense(weights_of("sparse-push:b", 4)));
  EXPECT_EQ(dense(cycle->at(0, 22)), dense(weights_of("sparse-push:a", 4)));
  EXPECT_EQ(cycle->period().size(), 2u);
}

TEST(Cycle, KeepsOneOfEachInALongPeriod) {
  EXPECT_EQ(make_schedule("cycle:ring+star,every=32", {})->period().size(), 64u);
  EXPECT_EQ(make_schedule("cycle:ring+star,every=33", {})->period().size(), 2u);
}

TEST(Cycle, OfOneMemberIsStatic) {
  EXPECT_TRUE(make_schedule("cycle:ring,every=3", {})->is_static());
}

TEST(Cycle, LeavesMembersTheirParameters) {
  const auto cycle = make_schedule("cycle:random:p=0.9,symmetric=1,every=2+star:weights=uniform",
                                   {.peers = 6, .seed = 3});
  EXPECT_EQ(cycle->phase(3, 0), 1u);
  const Matrix random = dense(cycle->at(0, 0));
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(random[i][j], random[j][i]);
  }
  EXPECT_EQ(dense(cycle->at(2, 0)), dense(weights_of("star:weights=uniform", 6)));
}

TEST(Cycle, DrawsItsRandomMembersApart) {
  const auto cycle = make_schedule("cycle:random+random", {.peers = 12, .seed = 3});
  EXPECT_NE(dense(cycle->at(0, 0)), dense(cycle->at(1, 0)));
}

TEST(Cycle, RefusesWhatItCannotCycle) {
  EXPECT_EQ(message_of_spec("cycle:ring+one-peer-exponential"),
            "[cycle] one-peer-exponential changes by itself; the members of a cycle must be static "
            "graphs");
  EXPECT_EQ(message_of_spec("cycle:ring+"), "[cycle] a member is empty; write cycle:A+B+C,every=K");
  EXPECT_EQ(message_of_spec("cycle:every=3"),
            "[cycle] a member is empty; write cycle:A+B+C,every=K");
  EXPECT_EQ(message_of_spec("cycle:ring+star,every=0"),
            "[cycle] every must be a number of rounds or epochs, such as 5 or 5epochs, got '0'");
  EXPECT_EQ(
      message_of_spec("cycle:ring+star,every=3weeks"),
      "[cycle] every must be a number of rounds or epochs, such as 5 or 5epochs, got '3weeks'");
  EXPECT_EQ(message_of_spec("cycle:ring,every=2+star,every=2"),
            "[cycle] every is given twice; give it once");
  EXPECT_EQ(
      message_of_spec("cycle:torus:3x5+torus:4x4"),
      "[cycle] members must have the same number of peers, but torus:3x5 has 15, torus:4x4 has 16");
  EXPECT_EQ(message_of_spec("cycle:ring+torus:3x5", 16),
            "[graph] torus:3x5 has 15 peers but --peers is 16; use torus:4x4, or drop --peers");
}

}  // namespace
}  // namespace hearsay::graph
