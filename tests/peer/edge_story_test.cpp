#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include "hearsay/core/random.h"
#include "peer/edges.h"

namespace hearsay::peer {
namespace {

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
