#include "hearsay/peer/edge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "hearsay/core/error.h"
#include "peer/edges.h"
#include "support/message_of.h"

namespace hearsay::peer {
namespace {

/// Two peers and the connections between them: `a` sends, `b` receives.
struct EdgePair {
  Edge a, b;
  std::uint64_t life_a = 10, life_b = 20;

  void connect() {
    disconnect();
    const net::Hello from_a = hello_of(a, life_a), from_b = hello_of(b, life_b);
    a.up(from_b, life_a);
    b.up(from_a, life_b);
  }
  void disconnect() {
    a.down();
    b.down();
  }
  std::uint64_t send() { return a.send(message_of_size(100)).number; }
};

EdgePair connected_pair() {
  EdgePair pair;
  pair.connect();
  return pair;
}

std::vector<std::uint64_t> numbers_in(const std::deque<SentMessage>& messages) {
  std::vector<std::uint64_t> numbers;
  for (const SentMessage& message : messages) numbers.push_back(message.number);
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

TEST(Edge, IsDownAndKnowsNobodyAtFirst) {
  const Edge edge;
  EXPECT_FALSE(edge.is_up() || edge.has_room(100));
  EXPECT_EQ(edge.incarnation(), 0u);
  const net::Hello hello = hello_of(edge, 10);
  EXPECT_EQ(hello.known, 0u);
  EXPECT_EQ(hello.next, 1u);
  EXPECT_EQ(hello.highest, 0u);
}

TEST(Edge, NumbersFromOneOnAndKeepsWhatIsNotAcked) {
  EdgePair pair = connected_pair();
  const SentMessage first = pair.a.send(message_of_size(100, 1.5));
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(first.life, pair.life_b);
  EXPECT_EQ(first.last_sent, 1.5);
  EXPECT_EQ(pair.send(), 2u);
  EXPECT_EQ(pair.a.unacked(), 2u);
}

TEST(Edge, HasRoomForEightMessages) {
  EdgePair pair = connected_pair();
  for (std::size_t k = 0; k < Edge::kMostUnacked; ++k) {
    EXPECT_TRUE(pair.a.has_room(100)) << k;
    pair.send();
  }
  EXPECT_FALSE(pair.a.has_room(100));
  pair.b.accept(5);
  pair.a.acked(pair.b.ack());
  EXPECT_TRUE(pair.a.has_room(100));
}

TEST(Edge, HasRoomForEightMebibytesOrOneMessage) {
  constexpr std::size_t kHalf = Edge::kMostUnackedBytes / 2;
  EdgePair pair = connected_pair();
  EXPECT_TRUE(pair.a.has_room(3 * kHalf));
  pair.a.send(message_of_size(kHalf));
  EXPECT_TRUE(pair.a.has_room(kHalf));
  EXPECT_FALSE(pair.a.has_room(kHalf + 1));
  pair.a.send(message_of_size(kHalf));
  EXPECT_FALSE(pair.a.has_room(compress::kHeaderBytes));
  pair.b.accept(1);
  pair.a.acked(pair.b.ack());
  EXPECT_TRUE(pair.a.has_room(kHalf));
  pair.disconnect();
  pair.connect();
  pair.a.send(message_of_size(kHalf));
  EXPECT_TRUE(pair.a.has_room(kHalf)) << "what was taken back takes no room";
}

TEST(Edge, HasNoRoomBeyondTheWindowOfItsOldestMessage) {
  EdgePair pair = connected_pair();
  pair.send();
  for (std::uint64_t number = 2; number <= Edge::kWindow; ++number) {
    ASSERT_TRUE(pair.a.has_room(100)) << number;
    ASSERT_EQ(pair.send(), number);
    ASSERT_EQ(pair.b.arrival(number), Edge::Arrival::kNew);
    pair.b.accept(number);
    pair.a.acked(pair.b.ack());
    ASSERT_EQ(pair.a.unacked(), 1u);
  }
  EXPECT_FALSE(pair.a.has_room(100));
  EXPECT_EQ(pair.b.arrival(1), Edge::Arrival::kNew);
  pair.b.accept(1);
  pair.a.acked(pair.b.ack());
  EXPECT_EQ(pair.a.unacked(), 0u);
  EXPECT_TRUE(pair.a.has_room(100));
}

TEST(Edge, ForgetsWhatIsAckedInAnyOrder) {
  EdgePair pair = connected_pair();
  for (int k = 0; k < 4; ++k) pair.send();
  pair.b.accept(3);
  const net::Ack early = pair.b.ack();
  pair.b.accept(1);
  pair.a.acked(pair.b.ack());
  EXPECT_EQ(pair.a.unacked(), 2u);
  pair.a.acked(early);
  EXPECT_EQ(pair.a.unacked(), 2u);
  pair.a.down();
  EXPECT_EQ(numbers_in(pair.a.returned()), (Numbers{2, 4}));
}

TEST(Edge, ReturnsWhatIsRefusedOnce) {
  EdgePair pair = connected_pair();
  for (int k = 0; k < 2; ++k) pair.send();
  pair.b.refuse(1);
  EXPECT_EQ(pair.b.arrival(1), Edge::Arrival::kDuplicate);
  pair.a.acked(pair.b.ack());
  pair.a.acked(pair.b.ack());
  EXPECT_EQ(numbers_in(pair.a.returned()), (Numbers{1}));
  EXPECT_EQ(pair.a.unacked(), 1u);
  pair.a.returned().clear();
  pair.connect();
  EXPECT_EQ(numbers_in(pair.a.returned()), (Numbers{2}));
  EXPECT_EQ(pair.a.unsettled(), 0u);
}

TEST(Edge, RejectsAnAckOfANumberNeverSent) {
  EdgePair pair = connected_pair();
  EXPECT_THROW(pair.a.acked({.highest = 1}), CorruptData);
  pair.send();
  pair.a.acked({.highest = 1});
  EXPECT_EQ(support::message_of<CorruptData>([&] { pair.a.acked({.highest = 2}); }),
            "[ack] of message 2, and 1 were sent");
  EXPECT_EQ(pair.a.unacked(), 1u);
}

TEST(Edge, TellsNewMessagesFromDuplicates) {
  EdgePair pair = connected_pair();
  pair.b.accept(3);
  EXPECT_EQ(pair.b.arrival(3), Edge::Arrival::kDuplicate);
  EXPECT_EQ(pair.b.arrival(2), Edge::Arrival::kNew);
  EXPECT_EQ(pair.b.arrival(4), Edge::Arrival::kNew);
  pair.b.accept(3 + Edge::kWindow);
  EXPECT_EQ(pair.b.arrival(4), Edge::Arrival::kNew);
  EXPECT_EQ(pair.b.arrival(3), Edge::Arrival::kDuplicate) << "too old to tell";
  EXPECT_EQ(pair.b.arrival(2), Edge::Arrival::kDuplicate) << "too old to tell";
}

TEST(Edge, RejectsAMessageBeyondTheWindow) {
  EdgePair pair = connected_pair();
  EXPECT_THROW(pair.b.arrival(0), CorruptData);
  EXPECT_EQ(pair.b.arrival(Edge::kWindow), Edge::Arrival::kNew);
  pair.b.accept(2);
  EXPECT_EQ(pair.b.arrival(2 + Edge::kWindow), Edge::Arrival::kNew);
  EXPECT_EQ(support::message_of<CorruptData>([&] { pair.b.arrival(3 + Edge::kWindow); }),
            "[data] message 67 is beyond the window: the highest was 2");
}

TEST(Edge, TakesBackWhatIsNotAcked) {
  EdgePair pair = connected_pair();
  for (int k = 0; k < 3; ++k) pair.send();
  pair.b.accept(2);
  pair.a.acked(pair.b.ack());
  pair.a.down();
  EXPECT_FALSE(pair.a.is_up() || pair.a.has_room(100));
  EXPECT_EQ(pair.a.unacked(), 0u);
  EXPECT_EQ(numbers_in(pair.a.returned()), (Numbers{1, 3}));
  EXPECT_EQ(pair.a.unsettled(), 2u);
  pair.a.down();
  EXPECT_EQ(pair.a.returned().size(), 2u);
}

TEST(Edge, TakesBackWhatIsNotAckedWhenAnotherConnectionReplacesTheOld) {
  EdgePair pair = connected_pair();
  pair.send();
  pair.a.up(hello_of(pair.b, pair.life_b), pair.life_a);
  EXPECT_TRUE(pair.a.is_up());
  EXPECT_EQ(numbers_in(pair.a.returned()), (Numbers{1}));
}

TEST(Edge, OwesWhatHadArrivedAndNothingElse) {
  EdgePair pair = connected_pair();
  for (int k = 0; k < 4; ++k) pair.send();
  pair.b.accept(1);
  pair.b.refuse(2);
  pair.b.accept(4);
  pair.connect();
  EXPECT_EQ(numbers_in(pair.a.returned()), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers_in(pair.a.owed()), (Numbers{1, 4}));
  EXPECT_EQ(pair.a.unsettled(), 2u);
  pair.connect();
  EXPECT_EQ(numbers_in(pair.a.owed()), (Numbers{1, 4}));
}

TEST(Edge, RefusesWhatTheOtherCountsAsNeverSent) {
  EdgePair pair = connected_pair();
  for (int k = 0; k < 3; ++k) pair.send();
  pair.b.accept(1);
  pair.connect();
  EXPECT_EQ(pair.b.arrival(2), Edge::Arrival::kDuplicate);
  EXPECT_EQ(pair.b.arrival(3), Edge::Arrival::kDuplicate);
  EXPECT_EQ(pair.send(), 4u);
  EXPECT_EQ(pair.b.arrival(4), Edge::Arrival::kNew);
  pair.b.accept(4);
  EXPECT_EQ(pair.b.ack().refused & 0b1111, 0b0110u);
  pair.a.acked(pair.b.ack());
  EXPECT_EQ(pair.a.unacked(), 0u);
}

TEST(Edge, WithoutSettlingOwesNothing) {
  EdgePair pair{.a = Edge({.settle = false}), .b = Edge()};
  pair.connect();
  pair.send();
  pair.b.accept(1);
  pair.connect();
  EXPECT_EQ(pair.a.returned().size(), 1u);
  EXPECT_TRUE(pair.a.owed().empty());
}

TEST(Edge, WithoutDedupeTakesADuplicateForNew) {
  EdgePair pair{.a = Edge(), .b = Edge({.dedupe = false})};
  pair.connect();
  pair.b.accept(1);
  EXPECT_EQ(pair.b.arrival(1), Edge::Arrival::kNew);
}

TEST(Edge, OwesNothingToANewLife) {
  EdgePair pair = connected_pair();
  for (int k = 0; k < 3; ++k) pair.send();
  pair.b.accept(1);
  pair.connect();
  EXPECT_EQ(pair.a.owed().size(), 1u);
  pair.send();
  pair.disconnect();
  pair.b = Edge();
  ++pair.life_b;
  pair.connect();
  EXPECT_EQ(pair.a.incarnation(), pair.life_b);
  EXPECT_EQ(pair.a.unsettled(), 0u);
  EXPECT_EQ(numbers_in(pair.a.returned()), (Numbers{1, 2, 3, 4})) << "but has its mass back";
  EXPECT_EQ(pair.send(), 1u);
  EXPECT_EQ(pair.b.arrival(1), Edge::Arrival::kNew);
}

// Only `a` came to be up: `b` never read its HELLO, and knows nothing of it at the next one.
TEST(Edge, OwesNothingToOneThatNeverCameUp) {
  EdgePair pair;
  pair.a.up(hello_of(pair.b, pair.life_b), pair.life_a);
  EXPECT_EQ(pair.send(), 1u);
  pair.disconnect();
  net::Hello hello = hello_of(pair.b, pair.life_b);
  EXPECT_EQ(hello.known, 0u);
  hello.highest = hello.arrived = 1;  // whatever else it says
  const net::Hello from_a = hello_of(pair.a, pair.life_a);
  pair.a.up(hello, pair.life_a);
  pair.b.up(from_a, pair.life_b);
  EXPECT_TRUE(pair.a.owed().empty());
  EXPECT_EQ(pair.a.unsettled(), 0u);
  EXPECT_EQ(pair.send(), 2u);
  EXPECT_EQ(pair.b.arrival(1), Edge::Arrival::kDuplicate);
  EXPECT_EQ(pair.b.arrival(2), Edge::Arrival::kNew);
}

TEST(Edge, RepeatsWhatIsOverdue) {
  EdgePair pair = connected_pair();
  pair.a.send(message_of_size(100, 1.0));
  pair.a.send(message_of_size(100, 1.5));
  EXPECT_TRUE(pair.a.overdue(1.75, 1).empty());
  const auto due = pair.a.overdue(2, 1);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0]->number, 1u);
  EXPECT_EQ(due[0]->first_sent, 1.0);
  EXPECT_TRUE(pair.a.overdue(2.25, 1).empty());
  EXPECT_EQ(pair.a.overdue(3, 1).size(), 2u);
}

TEST(Edge, IsStuckAfterTenSecondsAndThreeRounds) {
  EdgePair pair = connected_pair();
  pair.a.send(message_of_size(100, 1, 40));
  EXPECT_FALSE(pair.a.is_stuck(11, 100));
  EXPECT_FALSE(pair.a.is_stuck(12, 42));
  EXPECT_TRUE(pair.a.is_stuck(12, 43));
  pair.a.overdue(12, 1);
  EXPECT_TRUE(pair.a.is_stuck(12, 43)) << "repeating does not help";
  pair.b.accept(1);
  pair.a.acked(pair.b.ack());
  EXPECT_FALSE(pair.a.is_stuck(12, 43));
}

}  // namespace
}  // namespace hearsay::peer
