#include "hearsay/peer/members.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace hearsay::peer {
namespace {

constexpr std::uint32_t kHops = 3;

/// What peer 0 of four knows.
Members members_of_four() { return Members(4, 0, 100, kHops); }

net::Record record_of(std::uint32_t slot, std::uint64_t incarnation, std::uint64_t beat,
                      std::uint64_t rounds = 0) {
  return {.slot = slot, .incarnation = incarnation, .beat = beat, .rounds = rounds};
}

net::Record record_with(std::uint32_t slot, net::Status status) {
  net::Record record = record_of(slot, 7, 1);
  record.status = status;
  return record;
}

std::vector<std::uint32_t> slots_of(const std::vector<net::Record>& records) {
  std::vector<std::uint32_t> slots;
  for (const net::Record& record : records) slots.push_back(record.slot);
  return slots;
}

using Slots = std::vector<std::uint32_t>;

TEST(Members, KnowsItselfFromTheStart) {
  const Members members = members_of_four();
  EXPECT_EQ(members.peers(), 4u);
  EXPECT_EQ(members.own(), (net::Record{.slot = 0, .incarnation = 100, .u = 1}));
  EXPECT_EQ(members.live(1e9), (Slots{0}));
  EXPECT_EQ(slots_of(members.records()), (Slots{0}));
  EXPECT_EQ(members.incarnation(1), 0u);
}

TEST(Members, TakesOverWhatIsNewer) {
  Members members = members_of_four();
  members.merge(record_of(1, 7, 5, 50), 0);
  members.merge(record_of(1, 7, 4, 40), 0);
  members.merge(record_of(1, 7, 5, 51), 0);
  EXPECT_EQ(members.record(1).rounds, 50u);
  members.merge(record_of(1, 7, 6, 60), 0);
  EXPECT_EQ(members.record(1).rounds, 60u);
  members.merge(record_of(1, 8, 1, 1), 0);
  EXPECT_EQ(members.record(1), record_of(1, 8, 1, 1)) << "a new life's beats begin anew";
  members.merge(record_of(1, 7, 1000, 90), 0);
  EXPECT_EQ(members.record(1), record_of(1, 8, 1, 1));
}

TEST(Members, LetsNobodyOverwriteItsOwnRecord) {
  Members members = members_of_four();
  const net::Record own = members.own();
  members.merge(record_of(0, 101, 1000, 5), 0);
  EXPECT_EQ(members.own(), own);
}

TEST(Members, IgnoresASlotThatTheFleetDoesNotHave) {
  Members members = members_of_four();
  members.merge(record_of(4, 7, 1), 0);
  EXPECT_EQ(members.records().size(), 1u);
}

TEST(Members, TakesANeighbourForLiveUntilItsBeatHasStoppedForFiveSeconds) {
  Members members = members_of_four();
  members.up(1, {.incarnation = 7, .rounds = 30}, 10);
  EXPECT_EQ(members.record(1).rounds, 30u);
  EXPECT_TRUE(members.is_live(1, 15));
  EXPECT_FALSE(members.is_live(1, 15.001));
  members.merge(record_of(1, 7, 1), 14);
  EXPECT_TRUE(members.is_live(1, 19));
  members.merge(record_of(1, 7, 1), 18);
  EXPECT_FALSE(members.is_live(1, 19.001)) << "the same beat again is no sign of life";
}

TEST(Members, GivesOthersASecondMoreForEveryHop) {
  Members members = members_of_four();
  members.merge(record_of(2, 7, 1), 10);
  EXPECT_TRUE(members.is_live(2, 15 + kHops));
  EXPECT_FALSE(members.is_live(2, 15.001 + kHops));
}

TEST(Members, TakesWhoseConnectionBrokeForDeadForFiveSeconds) {
  Members members = members_of_four();
  members.up(1, {.incarnation = 7}, 10);
  members.down(1, 11);
  EXPECT_FALSE(members.is_live(1, 11));
  EXPECT_FALSE(members.is_live(1, 16)) << "nobody has heard of it since";
  members.merge(record_of(1, 7, 2), 15);
  EXPECT_FALSE(members.is_live(1, 15.999));
  EXPECT_TRUE(members.is_live(1, 16)) << "others go on hearing of it";
  members.down(1, 17);
  members.up(1, {.incarnation = 7}, 18);
  EXPECT_TRUE(members.is_live(1, 18)) << "it is back";
}

TEST(Members, CountsWhoTrainsOrHasFinishedAsLive) {
  Members members = members_of_four();
  members.merge(record_with(1, net::Status::kFinished), 0);
  members.merge(record_with(2, net::Status::kLeaving), 0);
  members.merge(record_with(3, net::Status::kTraining), 0);
  EXPECT_EQ(members.live(1), (Slots{0, 1, 3}));
  members.merge(record_of(2, 8, 1), 1);
  EXPECT_EQ(members.live(1), (Slots{0, 1, 2, 3}));
  net::Record left = record_of(3, 7, 2);
  left.status = net::Status::kLeft;
  members.merge(left, 1);
  EXPECT_EQ(members.live(1), (Slots{0, 1, 2}));
}

TEST(Members, KeepsWhatItKnowsOfALifeThatConnectsAgain) {
  Members members = members_of_four();
  members.merge(record_of(1, 7, 9, 90), 0);
  members.up(1, {.incarnation = 7, .rounds = 1}, 1);
  EXPECT_EQ(members.record(1), record_of(1, 7, 9, 90));
  members.up(1, {.incarnation = 8, .rounds = 95}, 2);
  EXPECT_EQ(members.record(1), (net::Record{.slot = 1, .incarnation = 8, .rounds = 95, .u = 1}));
}

TEST(Members, KnowsTheAgeOfARecord) {
  Members members = members_of_four();
  members.merge(record_of(1, 7, 2), 10);
  members.merge(record_of(1, 7, 1), 11);
  EXPECT_EQ(members.age(1, 12.5), 2.5);
  members.merge(record_of(1, 7, 3), 12);
  EXPECT_EQ(members.age(1, 12.5), 0.5);
  members.up(1, {.incarnation = 7}, 20);
  EXPECT_EQ(members.age(1, 20), 8) << "the record is the same";
  members.up(1, {.incarnation = 8}, 20);
  EXPECT_EQ(members.age(1, 20), 0);
}

TEST(Members, PulsesItsOwnRecordFirstWithARisingBeat) {
  Members members = members_of_four();
  members.own().rounds = 12;
  for (std::uint64_t beat = 1; beat <= 3; ++beat) {
    const std::vector<net::Record> records = members.pulse();
    ASSERT_EQ(records.size(), 1u) << "of the others nothing is known";
    EXPECT_EQ(records[0], members.own());
    EXPECT_EQ(records[0].beat, beat);
    EXPECT_EQ(records[0].rounds, 12u);
  }
}

TEST(Members, PulsesAtMostEightOthersOrAQuarterOfTheFleet) {
  for (const auto& [peers, most] :
       {std::pair(2u, 1u), {9u, 8u}, {32u, 8u}, {36u, 9u}, {100u, 25u}}) {
    Members members(peers, 0, 1, 1);
    for (std::uint32_t slot = 1; slot < peers; ++slot) members.merge(record_of(slot, 7, 1), 0);
    for (int k = 0; k < 10; ++k) {
      const std::vector<net::Record> records = members.pulse();
      EXPECT_EQ(records.size(), 1 + most) << peers;
      const Slots slots = slots_of(records);
      EXPECT_EQ(std::set(slots.begin(), slots.end()).size(), slots.size()) << "each once";
    }
  }
}

TEST(Members, PulsesWhatChangedFirst) {
  Members members(20, 0, 1, 1);
  for (std::uint32_t slot = 1; slot < 20; ++slot) members.merge(record_of(slot, 7, 1), 0);
  for (int k = 0; k < 3; ++k) members.pulse();  // all are told
  members.merge(record_of(13, 7, 2), 1);
  members.merge(record_of(5, 7, 2), 1);
  Slots slots = slots_of(members.pulse());
  ASSERT_EQ(slots.size(), 9u);
  std::sort(slots.begin() + 1, slots.begin() + 3);
  EXPECT_EQ(Slots(slots.begin(), slots.begin() + 3), (Slots{0, 5, 13}));
}

/// Pulses until the records of all others were passed on, if every one changes before each pulse.
std::uint32_t pulses_until_all_are_told(std::uint32_t peers, std::uint32_t self) {
  constexpr std::uint32_t kNever = 1000;
  Members members(peers, self, 1, 1);
  std::set<std::uint32_t> told{self};
  for (std::uint32_t beat = 1; beat < kNever; ++beat) {
    for (std::uint32_t slot = 0; slot < peers; ++slot) members.merge(record_of(slot, 7, beat), 0);
    for (const net::Record& record : members.pulse()) told.insert(record.slot);
    if (told.size() == peers) return beat;
  }
  return kNever;
}

TEST(Members, PassesOnEveryRecordInTurn) {
  for (std::uint32_t peers = 2; peers <= 80; ++peers) {
    const std::uint32_t at_once = std::max(8u, peers / 4);
    for (std::uint32_t self = 0; self < peers; ++self) {
      EXPECT_LE(pulses_until_all_are_told(peers, self), (peers + at_once - 1) / at_once)
          << "peer " << self << " of " << peers;
    }
  }
}

}  // namespace
}  // namespace hearsay::peer
