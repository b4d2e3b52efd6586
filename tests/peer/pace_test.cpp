#include "hearsay/peer/pace.h"

#include <cmath>

#include <gtest/gtest.h>

namespace hearsay::peer {
namespace {

/// What peer 0 knows of a fleet whose others have these rates and rounds; all live until 5.
Members fleet_of(const std::vector<net::Record>& others) {
  Members members(static_cast<std::uint32_t>(others.size() + 1), 0, 1, 0);
  for (std::size_t k = 0; k < others.size(); ++k) {
    net::Record record = others[k];
    record.slot = static_cast<std::uint32_t>(k + 1);
    record.incarnation = record.beat = 1;
    members.merge(record, 0);
  }
  return members;
}

/// A pace that has trained that many rounds alone, one every `interval` seconds from 0 on.
Pace pace_of(double interval, int rounds = 21) {
  Pace pace;
  for (int k = 0; k < rounds; ++k) pace.round(fleet_of({}), interval * k);
  return pace;
}

TEST(Pace, MeasuresRoundsPerSecond) {
  EXPECT_EQ(Pace().rate(), 0);
  EXPECT_EQ(pace_of(0.25, 1).rate(), 0);
  EXPECT_DOUBLE_EQ(pace_of(0.25, 2).rate(), 4);
  EXPECT_DOUBLE_EQ(pace_of(0.25).rate(), 4);
}

TEST(Pace, IsTheMeanOfTheFirstTenRounds) {
  Pace pace;
  for (const double now : {0.0, 1.0, 3.0, 6.0}) pace.round(fleet_of({}), now);
  EXPECT_DOUBLE_EQ(pace.rate(), 0.5);
}

TEST(Pace, ForgetsATenthARound) {
  Pace pace = pace_of(1, 11);
  pace.round(fleet_of({}), 10 + 3);
  EXPECT_DOUBLE_EQ(pace.rate(), 1 / 1.2);  // 1 + (3 - 1) / 10 seconds per round
  for (int k = 1; k <= 200; ++k) pace.round(fleet_of({}), 13 + 0.5 * k);
  EXPECT_NEAR(pace.rate(), 2, 5e-9);  // 2^2 (1.2 - 0.5) 0.9^200 = 2e-9
}

TEST(Pace, TakesALongPauseForNoTraining) {
  Pace pace = pace_of(1, 11);
  pace.round(fleet_of({}), 10 + 3600);
  EXPECT_DOUBLE_EQ(pace.rate(), 1 / 1.3);  // as if it had been 4 seconds
  EXPECT_LT(pace.clock(), 11 + 4);
}

TEST(Pace, DoesNotMindRoundsInTheSameMoment) {
  Pace pace = pace_of(0.5);
  pace.round(fleet_of({}), 10);
  EXPECT_DOUBLE_EQ(pace.rate(), 2);
}

TEST(Pace, ScalesByTheMeanRateOverTheOwn) {
  const Pace pace = pace_of(0.5);
  EXPECT_DOUBLE_EQ(pace.scale(fleet_of({{.rate = 4}, {.rate = 6}}), 1), 2);  // (2 + 4 + 6) / 3
  EXPECT_DOUBLE_EQ(pace.scale(fleet_of({{.rate = 1}, {.rate = 0.5}, {.rate = 0.5}}), 1), 0.5);
}

TEST(Pace, ScalesByFourAtMost) {
  EXPECT_EQ(pace_of(1).scale(fleet_of({{.rate = 1000}}), 1), 4);
  EXPECT_EQ(pace_of(0.001).scale(fleet_of({{.rate = 1}, {.rate = 1}, {.rate = 1}, {.rate = 1}}), 1),
            0.25);
}

TEST(Pace, ScalesByOneUntilRatesAreKnown) {
  const Members fast = fleet_of({{.rate = 100}});
  EXPECT_EQ(Pace().scale(fast, 1), 1);
  EXPECT_EQ(pace_of(1, 3).scale(fast, 1), 1);
  EXPECT_EQ(pace_of(1, 4).scale(fast, 1), 4);
  EXPECT_EQ(pace_of(1).scale(fleet_of({{.rate = 0}, {.rate = 0}}), 1), 1);
  EXPECT_EQ(pace_of(1).scale(fleet_of({}), 1), 1);
}

TEST(Pace, LeavesOutWhoIsNotLiveOrHasNoRateYet) {
  const Pace pace = pace_of(1);
  EXPECT_DOUBLE_EQ(pace.scale(fleet_of({{.rate = 3}, {.rate = 0}}), 1), 2);
  EXPECT_EQ(pace.scale(fleet_of({{.rate = 3}}), 6), 1);
}

TEST(Pace, CountsItsRoundsIfItIsAlone) {
  EXPECT_EQ(Pace().clock(), 0);
  EXPECT_DOUBLE_EQ(pace_of(0.5, 7).clock(), 7);
  Pace late(100);
  EXPECT_EQ(late.clock(), 100);
  late.round(fleet_of({}), 0);
  EXPECT_EQ(late.clock(), 101);
}

TEST(Pace, AdvancesByTheMeanRate) {
  Pace pace = pace_of(0.25, 11);
  const Members members = fleet_of({{.rate = 6, .clock = 15}});
  pace.round(members, 2.5);  // no time has passed
  EXPECT_DOUBLE_EQ(pace.clock(), 11);
  pace.round(members, 2.75);
  const double own = 11 + 0.25 * 5, other = 15 + 2.75 * 5;  // at the mean of 4 and 6 per second
  EXPECT_DOUBLE_EQ(pace.clock(), own + 0.25 / 30 * ((own + other) / 2 - own));
}

TEST(Pace, IsDrawnToTheMeanClockOfWhoIsLive) {
  Pace pace = pace_of(1, 11);  // at 10 s
  Members members(2, 0, 1, 0);
  const auto tell = [&](double clock, double now) {
    members.merge({.slot = 1,
                   .incarnation = 1,
                   .beat = static_cast<std::uint64_t>(now),
                   .rate = 1,
                   .clock = static_cast<float>(clock)},
                  now);
  };
  for (int now = 11; now <= 200; ++now) {  // the other goes on from 1,000, drawn to nobody
    tell(1000 + now, now);
    pace.round(members, now);
  }
  EXPECT_NEAR(pace.clock(), 1200, 1000 * std::exp(-190.0 / 60));
  EXPECT_LT(pace.clock(), 1200);
  const double before = pace.clock();
  pace.round(members, 206);                           // the other is gone
  EXPECT_NEAR(pace.clock(), before + 4 / 1.3, 1e-9);  // a pause, at its own rate
}

TEST(Pace, LeavesOutTheClockOfWhoHasOnlySaidHello) {
  Members members(2, 0, 1, 0);
  members.up(1, {.incarnation = 7, .rounds = 100}, 0);
  Pace pace(100);
  pace.round(members, 0);
  EXPECT_EQ(pace.clock(), 101);
}

TEST(Pace, NeverSetsTheClockBack) {
  Pace pace(1000);
  for (int now = 0; now < 4; ++now) pace.round(fleet_of({}), now);
  const double before = pace.clock();
  pace.round(fleet_of({{.rate = 1, .clock = 10}}), 4);
  EXPECT_EQ(pace.clock(), before);
}

}  // namespace
}  // namespace hearsay::peer
