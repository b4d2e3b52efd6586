#include "hearsay/peer/edge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/random.h"
#include "support/message_of.h"

namespace hearsay::peer {
namespace {

/// A message whose header and code are that many bytes.
SentMessage message_of_size(std::size_t bytes, double now = 0, std::uint64_t rounds = 0) {
  return {.header = {.weight = 0.25f, .push_sum = 0.5},
          .code = std::make_shared<const Bytes>(bytes - compress::kHeaderBytes),
          .first_sent = now,
          .rounds = rounds};
}

net::Hello hello_of(const Edge& edge, std::uint64_t life) {
  net::Hello hello{.incarnation = life};
  edge.describe(hello);
  return hello;
}

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

/// Two peers of which anything may happen to the messages, the connections and the lives, and an
/// account of how often each message counted at either end.
class EdgeStory {
 public:
  EdgeStory(std::uint64_t seed, const Controls& controls)
      : controls_(controls), random_(seed, Purpose::kTest) {
    for (Side& side : sides_) side.edge = Edge(controls_);
  }

  void step() {
    const std::size_t self = random_.below(2);
    const double what = random_.uniform();
    if (what < 0.3) {
      send(self);
    } else if (what < 0.7) {
      deliver(self);
    } else if (what < 0.85) {
      acknowledge(self);
    } else if (what < 0.92) {
      credit(self, random_.below(3));
    } else if (what < 0.96) {
      greet(self);
    } else if (what < 0.975) {
      hang_up(self);
    } else if (what < 0.995) {
      connect();
    } else {
      begin_life(self);
    }
  }

  /// A last connection, over which everything arrives.
  void finish() {
    connect();
    for (const std::size_t self : {0u, 1u}) greet(self);
    while (sides_[0].edge.unacked() + sides_[1].edge.unacked() > 0) {
      for (const std::size_t self : {0u, 1u}) {
        for (const SentMessage* message : sides_[self].edge.overdue(++now_, 0)) {
          sides_[1 - self].mail.push_back(message->number);
        }
      }
      for (const std::size_t self : {0u, 1u}) {
        for (const Mail& mail : std::exchange(sides_[self].mail, {})) receive(self, mail);
        acknowledge(self);
      }
      for (const std::size_t self : {0u, 1u}) {
        for (const Mail& mail : std::exchange(sides_[self].mail, {})) receive(self, mail);
      }
    }
    for (const std::size_t self : {0u, 1u}) credit(self, sides_[self].edge.owed().size());
  }

  /// What happened to a message that may happen to none; empty: nothing.
  std::string wrong() const {
    for (const auto& [key, account] : accounts_) {
      const auto& [sender, sender_life, receiver_life, number] = key;
      const bool both_go_on =
          sender_life == sides_[sender].life && receiver_life == sides_[1 - sender].life;
      const int debited = account.sent - account.returned + account.paid;
      if (account.sent == 1 && account.applied <= 1 && account.returned <= 1 &&
          account.paid <= account.returned && (!both_go_on || debited == account.applied)) {
        continue;
      }
      return fmt::format(
          "message {} from side {} (life {}) to life {}: sent {}, applied {}, returned {}, paid {}",
          number, sender, sender_life, receiver_life, account.sent, account.applied,
          account.returned, account.paid);
    }
    return "";
  }

  struct Counts {
    int applied = 0, returned = 0, paid = 0;
  };
  Counts counts() const {
    Counts counts;
    for (const auto& [key, account] : accounts_) {
      counts.applied += account.applied;
      counts.returned += account.returned;
      counts.paid += account.paid;
    }
    return counts;
  }

 private:
  using Mail = std::variant<std::uint64_t, net::Ack>;  ///< a message's number, or an ack
  struct Side {
    Edge edge;
    std::uint64_t life = 1;
    std::optional<net::Hello> greeting;  ///< on its way to this side
    std::vector<Mail> mail;              ///< likewise
  };
  struct Account {
    int sent = 0, applied = 0, returned = 0, paid = 0;
  };

  Account& account(std::size_t sender, std::uint64_t receiver_life, std::uint64_t number) {
    return accounts_[{sender, sides_[sender].life, receiver_life, number}];
  }

  void send(std::size_t self) {
    Edge& edge = sides_[self].edge;
    if (!edge.has_room(100)) return;
    const SentMessage sent = edge.send(message_of_size(100, ++now_));
    ++account(self, sent.life, sent.number).sent;
    sides_[1 - self].mail.push_back(sent.number);
  }

  /// Any frame on its way arrives: it may overtake others, and be lost or arrive again.
  void deliver(std::size_t self) {
    std::vector<Mail>& mail = sides_[self].mail;
    if (mail.empty()) return;
    const auto at = mail.begin() + static_cast<std::ptrdiff_t>(random_.below(mail.size()));
    const Mail frame = *at;
    if (random_.below(5) > 0) mail.erase(at);
    if (random_.below(5) > 0) receive(self, frame);
  }

  void receive(std::size_t self, const Mail& frame) {
    Edge& edge = sides_[self].edge;
    if (!edge.is_up()) return;
    if (const auto* ack = std::get_if<net::Ack>(&frame)) return edge.acked(*ack);
    const std::uint64_t number = std::get<std::uint64_t>(frame);
    if (edge.arrival(number) == Edge::Arrival::kDuplicate) return;
    if (random_.below(8) == 0) return edge.refuse(number);
    edge.accept(number);
    ++accounts_[{1 - self, edge.incarnation(), sides_[self].life, number}].applied;
  }

  void acknowledge(std::size_t self) {
    const Edge& edge = sides_[self].edge;
    if (edge.is_up()) sides_[1 - self].mail.push_back(edge.ack());
  }

  void credit(std::size_t self, std::size_t most_paid) {
    Edge& edge = sides_[self].edge;
    for (const SentMessage& message : std::exchange(edge.returned(), {})) {
      ++account(self, message.life, message.number).returned;
    }
    for (; most_paid > 0 && !edge.owed().empty(); --most_paid) {
      const SentMessage message = edge.owed().front();
      edge.owed().pop_front();
      ++account(self, message.life, message.number).paid;
    }
  }

  /// A new connection: nothing of the old one is handed out any more.
  void connect() {
    for (Side& side : sides_) {
      side.edge.down();
      side.mail.clear();
    }
    for (const std::size_t self : {0u, 1u}) {
      sides_[1 - self].greeting = hello_of(sides_[self].edge, sides_[self].life);
    }
  }
  /// The other's HELLO arrives; if it never does, only the other side comes to be up.
  void greet(std::size_t self) {
    Side& side = sides_[self];
    if (side.greeting) side.edge.up(*side.greeting, side.life);
    side.greeting.reset();
  }
  /// This side's end of the connection is gone; the other may not notice for long.
  void hang_up(std::size_t self) {
    sides_[self].edge.down();
    sides_[self].greeting.reset();
    sides_[self].mail.clear();
  }
  void begin_life(std::size_t self) {
    hang_up(self);
    sides_[self].edge = Edge(controls_);
    ++sides_[self].life;
  }

  Controls controls_;
  Random random_;
  std::array<Side, 2> sides_;
  double now_ = 0;
  /// By sender, life of the sender, life of the receiver, and number.
  std::map<std::tuple<std::size_t, std::uint64_t, std::uint64_t, std::uint64_t>, Account> accounts_;
};

EdgeStory finished_story(std::uint64_t seed, const Controls& controls) {
  EdgeStory story(seed, controls);
  for (int k = 0; k < 1000; ++k) story.step();
  story.finish();
  return story;
}

TEST(Edge, CountsEveryMessageExactlyOnceHoweverConnectionsBreak) {
  EdgeStory::Counts all;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const EdgeStory story = finished_story(seed, {});
    ASSERT_EQ(story.wrong(), "");
    all.applied += story.counts().applied;
    all.returned += story.counts().returned;
    all.paid += story.counts().paid;
  }
  EXPECT_GT(all.applied, 500 * 10);  // the stories told something
  EXPECT_GT(all.returned, 500 * 10);
  EXPECT_GT(all.paid, 500);
}

TEST(Edge, DoesNotCountOnceWithoutSettling) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    wrong += finished_story(seed, {.settle = false}).wrong().empty() ? 0 : 1;
  }
  EXPECT_GT(wrong, 0);
}

TEST(Edge, DoesNotCountOnceWithoutDedupe) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    wrong += finished_story(seed, {.dedupe = false}).wrong().empty() ? 0 : 1;
  }
  EXPECT_GT(wrong, 0);
}

}  // namespace
}  // namespace hearsay::peer
