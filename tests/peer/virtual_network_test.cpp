#include "hearsay/peer/world/virtual_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::peer {
namespace {

constexpr net::FrameLimits kAnyFrame{.longest_data = 1000, .peers = 16};

/// A peer that lets everybody in, and writes down what its wire tells it.
class Guest final : public net::WireEvents {
 public:
  Guest(std::uint32_t self, const EventQueue& events) : self_(self), events_(events) {}

  net::Hello hello(std::uint32_t peer) override {
    // `next` counts the connections, as this side sees them: frames name the one they belong to.
    return {.incarnation = 1, .next = ++greeted[peer], .slot = self_};
  }
  std::optional<net::Bye> judge(std::uint32_t peer, const net::Hello& hello) override {
    write(fmt::format("judge {}", peer));
    EXPECT_EQ(hello.slot, peer);
    if (refuses) return net::Bye{net::ByeReason::kRefused};
    up[peer] = true;
    connection_of[peer] = hello.next;
    return {};
  }
  void down(std::uint32_t peer, std::string_view why) override {
    write(fmt::format("down {}, {}", peer, why));
    EXPECT_TRUE(up[peer]);
    up[peer] = false;
    downs.emplace_back(why);
  }
  void frame(std::uint32_t peer, const net::Frame& frame) override {
    write(fmt::format("frame {} from {}", frame.header.number, peer));
    EXPECT_TRUE(up[peer]);
    numbers.push_back(frame.header.number);
    ByteReader body(frame.body, "body");
    EXPECT_EQ(body.read<std::uint64_t>(), connection_of[peer]) << "a frame of another connection";
    delays.push_back(events_.now() - body.read<double>());
    if (chokes) throw CorruptData("[test] no");
  }

  /// Sends a frame that says on which connection and when it was sent.
  bool send(std::uint32_t peer, std::uint64_t number) {
    Bytes body;
    append(body, greeted[peer]);
    append(body, events_.now());
    return wire->send(peer, net::encode_frame(net::FrameType::kData, 0, number, body));
  }
  void want(std::vector<std::uint32_t> peers) { wire->want(peers); }

  net::Wire* wire = nullptr;
  bool refuses = false, chokes = false;
  std::array<bool, 4> up{};
  std::array<std::uint64_t, 4> greeted{}, connection_of{};
  std::vector<std::uint64_t> numbers;  ///< of the frames that arrived
  std::vector<double> delays;          ///< and how long they took
  std::vector<std::string> downs, story;

 private:
  void write(const std::string& what) {
    story.push_back(fmt::format("{} at {}: {}", self_, events_.now(), what));
  }

  std::uint32_t self_;
  const EventQueue& events_;
};

/// A network of four peers, all of which live.
struct Party {
  explicit Party(const Faults& faults, std::uint64_t seed = 1) : network(events, faults, 4, seed) {
    for (std::uint32_t peer = 0; peer < 4; ++peer) enter(peer);
  }

  void enter(std::uint32_t peer) {
    guests[peer] = std::make_unique<Guest>(peer, events);
    guests[peer]->wire = &network.enter(peer, *guests[peer], kAnyFrame);
  }
  void leave(std::uint32_t peer) { network.leave(peer); }

  /// Everything happens that is due within so many seconds.
  void pass(double seconds) {
    bool over = false;
    events.after(seconds, [&] { over = true; });
    while (!over) events.step();
  }
  /// Peer 0 wants peer 1, and both come to be up.
  void connect() {
    guests[0]->want({1});
    for (int k = 0; k < 1000 && !(guests[0]->up[1] && guests[1]->up[0]); ++k) pass(0.1);
    ASSERT_TRUE(guests[0]->up[1] && guests[1]->up[0]);
  }
  std::vector<std::string> story() const {
    std::vector<std::string> all;
    for (const auto& guest : guests)
      all.insert(all.end(), guest->story.begin(), guest->story.end());
    return all;
  }

  EventQueue events;
  VirtualNetwork network;
  std::array<std::unique_ptr<Guest>, 4> guests;
};

TEST(VirtualNetwork, ConnectsWhoIsWantedAndNobodyElse) {
  Party party({.delay = 0.1});
  party.guests[0]->want({1});
  EXPECT_FALSE(party.guests[0]->send(1, 1));
  party.pass(0.25 + 4 * 0.2);  // until it dials; then three ways for the handshake, one for a HELLO
  EXPECT_TRUE(party.guests[0]->up[1] && party.guests[1]->up[0]);
  EXPECT_TRUE(party.guests[0]->send(1, 1) && party.guests[1]->send(0, 2));
  EXPECT_FALSE(party.guests[0]->send(2, 1) || party.guests[1]->send(2, 1));
  party.pass(1);
  EXPECT_EQ(party.guests[1]->numbers, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(party.guests[0]->numbers, (std::vector<std::uint64_t>{2}));
  for (const auto& guest : party.guests) EXPECT_FALSE(guest->up[2] || guest->up[3]);
  EXPECT_EQ(party.guests[0]->greeted[1], 1u);
}

TEST(VirtualNetwork, HandsOutNoFrameBeforeAHello) {
  for (const double loss : {0.0, 0.2}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Party party({.delay = 0.3, .loss = loss}, seed);
      for (const std::uint32_t peer : {0u, 1u}) party.guests[peer]->want({1 - peer});
      for (std::uint64_t k = 1; k <= 300; ++k) {
        for (const std::uint32_t peer : {0u, 1u}) {
          EXPECT_EQ(party.guests[peer]->send(1 - peer, k), party.guests[peer]->up[1 - peer]);
        }
        party.pass(0.02);
      }
      EXPECT_GT(party.guests[0]->numbers.size() + party.guests[1]->numbers.size(), 0u);
    }
  }
}

TEST(VirtualNetwork, KeepsOrderAndLosesNothingIfNothingIsToGetLost) {
  Party party({.delay = 0.5});
  party.connect();
  EXPECT_TRUE(party.guests[0]->wire->reliable());
  std::vector<std::uint64_t> sent;
  for (std::uint64_t number = 1; number <= 200; ++number) {
    party.guests[0]->send(1, number);
    sent.push_back(number);
    party.pass(0.01);
  }
  party.pass(1);
  EXPECT_EQ(party.guests[1]->numbers, sent);
}

TEST(VirtualNetwork, DelaysFramesByTwiceTheMeanAtMost) {
  Party party({.delay = 0.5, .duplicate = 1e-9});
  party.connect();
  EXPECT_FALSE(party.guests[0]->wire->reliable());
  for (std::uint64_t number = 1; number <= 200; ++number) party.guests[0]->send(1, number);
  party.pass(1);
  const std::vector<double>& delays = party.guests[1]->delays;
  ASSERT_EQ(delays.size(), 200u);
  EXPECT_GE(*std::ranges::min_element(delays), 0);
  EXPECT_LT(*std::ranges::min_element(delays), 0.1);
  EXPECT_LE(*std::ranges::max_element(delays), 1);
  EXPECT_GT(*std::ranges::max_element(delays), 0.9);
  EXPECT_FALSE(std::ranges::is_sorted(party.guests[1]->numbers)) << "they overtake each other";
}

TEST(VirtualNetwork, LosesAndRepeatsFramesAsOftenAsTheFaultsSay) {
  constexpr std::uint64_t kSent = 2000;
  Party party({.delay = 0.1, .loss = 0.3, .duplicate = 0.2});
  party.connect();
  for (std::uint64_t number = 1; number <= kSent; ++number) party.guests[0]->send(1, number);
  party.pass(1);
  const std::vector<std::uint64_t>& numbers = party.guests[1]->numbers;
  const std::set<std::uint64_t> different(numbers.begin(), numbers.end());
  // Five standard deviations, of 20 and 17 frames.
  EXPECT_NEAR(static_cast<double>(different.size()), 0.7 * kSent, 100);
  EXPECT_NEAR(static_cast<double>(numbers.size() - different.size()), 0.7 * 0.2 * kSent, 85);
}

TEST(VirtualNetwork, LetsNothingPassACut) {
  Party party({.delay = 0.1});
  party.guests[2]->want({3});
  party.guests[0]->want({1, 2});
  party.pass(2);
  ASSERT_TRUE(party.guests[0]->up[1] && party.guests[0]->up[2] && party.guests[2]->up[3]);
  party.guests[2]->send(0, 1);
  party.network.cut_at(2);
  party.guests[0]->send(1, 2);
  party.guests[0]->send(2, 3);
  party.guests[2]->send(3, 4);
  party.guests[1]->want({3});
  party.pass(20);
  EXPECT_TRUE(party.guests[0]->numbers.empty()) << "what was on its way does not arrive either";
  EXPECT_EQ(party.guests[1]->numbers, (std::vector<std::uint64_t>{2}));
  EXPECT_TRUE(party.guests[2]->numbers.empty());
  EXPECT_EQ(party.guests[3]->numbers, (std::vector<std::uint64_t>{4}));
  EXPECT_FALSE(party.guests[1]->up[3]);
  party.network.cut_at(0);
  party.pass(16);
  EXPECT_TRUE(party.guests[1]->up[3]) << "it goes on dialling";
}

TEST(VirtualNetwork, DialsUntilThePeerIsThere) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Party party({}, seed);
    party.leave(1);
    party.guests[0]->want({1});
    party.pass(100);
    EXPECT_EQ(party.guests[0]->greeted[1], 0u);
    party.enter(1);
    party.pass(15);  // the longest pause
    EXPECT_TRUE(party.guests[0]->up[1] && party.guests[1]->up[0]);
  }
}

TEST(VirtualNetwork, DialsAgainSoonAfterALoss) {
  Party party({});
  party.connect();
  party.guests[1]->wire->close(0, {net::ByeReason::kStuck});
  party.pass(0);
  EXPECT_FALSE(party.guests[0]->up[1] || party.guests[1]->up[0]);
  party.guests[0]->want({1});
  party.pass(0.12);
  EXPECT_FALSE(party.guests[0]->up[1]);
  party.pass(0.25);
  EXPECT_TRUE(party.guests[0]->up[1] && party.guests[1]->up[0]);
}

TEST(VirtualNetwork, DialsNobodyWhoIsNoLongerWanted) {
  Party party({});
  party.guests[0]->want({1});
  party.guests[0]->want({});
  party.pass(20);
  EXPECT_EQ(party.guests[0]->greeted[1], 0u);
}

TEST(VirtualNetwork, TellsBothSidesOfAConnectionThatIsClosed) {
  Party party({.delay = 0.1});
  party.connect();
  party.guests[0]->wire->close(1, {net::ByeReason::kStuck});
  EXPECT_TRUE(party.guests[0]->up[1]) << "not from within the call";
  party.pass(0.2);
  EXPECT_EQ(party.guests[0]->downs, (std::vector<std::string>{"closed here"}));
  EXPECT_EQ(party.guests[1]->downs,
            (std::vector<std::string>{std::string(net::name_of(net::ByeReason::kStuck))}));
  EXPECT_FALSE(party.guests[0]->send(1, 1) || party.guests[1]->send(0, 1));
}

TEST(VirtualNetwork, ClosesAConnectionOnAFrameThatIsNotValid) {
  Party party({.delay = 0.1});
  party.connect();
  party.guests[1]->chokes = true;
  party.guests[0]->send(1, 1);
  party.pass(0.5);
  EXPECT_EQ(party.guests[0]->downs,
            (std::vector<std::string>{std::string(net::name_of(net::ByeReason::kCorrupt))}));
  EXPECT_EQ(party.guests[1]->downs, (std::vector<std::string>{"closed here"}));
}

TEST(VirtualNetwork, ClosesTheConnectionOfWhoIsNotLetIn) {
  Party party({.delay = 0.1});
  party.guests[1]->refuses = true;
  for (std::uint64_t k = 1; k <= 100; ++k) {
    party.guests[0]->want({1});
    party.guests[0]->send(1, k);
    party.pass(0.1);
  }
  EXPECT_GT(party.guests[0]->greeted[1], 1u) << "it tries again";
  EXPECT_TRUE(party.guests[1]->numbers.empty() && party.guests[1]->downs.empty());
  for (const std::string& why : party.guests[0]->downs) {
    EXPECT_EQ(why, net::name_of(net::ByeReason::kRefused));
  }
}

// Guests check that every frame belongs to the connection that is up.
TEST(VirtualNetwork, HandsOutNoFrameOfAnEarlierConnection) {
  std::size_t frames = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Party party({.delay = 0.5, .loss = 0.05, .duplicate = 0.2}, seed);
    for (std::uint64_t k = 1; k <= 500; ++k) {
      for (const std::uint32_t peer : {0u, 1u}) {
        party.guests[peer]->want({1 - peer});
        party.guests[peer]->send(1 - peer, k);
      }
      if (k % 40 == 0) party.guests[k / 40 % 2]->wire->close(1 - k / 40 % 2, {});
      party.pass(0.05);
    }
    EXPECT_GT(party.guests[0]->greeted[1], 3u);
    frames += party.guests[0]->numbers.size() + party.guests[1]->numbers.size();
  }
  EXPECT_GT(frames, 1000u);
}

TEST(VirtualNetwork, HandsOutNoFrameToALaterLife) {
  Party party({.delay = 1, .duplicate = 0.5});
  party.connect();
  for (std::uint64_t number = 1; number <= 50; ++number) party.guests[0]->send(1, number);
  party.leave(1);
  party.enter(1);
  party.pass(10);
  EXPECT_TRUE(party.guests[1]->numbers.empty());
}

TEST(VirtualNetwork, ResetsTheConnectionsOfTheDeadOrLeavesThemSilent) {
  int reset = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Party party({}, seed);
    party.connect();
    party.leave(1);
    party.pass(0);
    if (party.guests[0]->up[1]) continue;
    ++reset;
    EXPECT_EQ(party.guests[0]->downs, (std::vector<std::string>{"connection reset"}));
  }
  EXPECT_NEAR(reset, 50, 25);  // five standard deviations
}

/// What everybody is told in a minute of a bad network.
std::vector<std::string> story_of(std::uint64_t seed) {
  Party party({.delay = 0.2, .loss = 0.1, .duplicate = 0.1}, seed);
  for (std::uint64_t k = 1; k <= 600; ++k) {
    for (std::uint32_t peer = 0; peer < 4; ++peer) {
      party.guests[peer]->want({(peer + 1) % 4, (peer + 3) % 4});
      party.guests[peer]->send((peer + 1) % 4, k);
    }
    if (k % 100 == 0) party.guests[k / 100 % 4]->wire->close((k / 100 + 1) % 4, {});
    party.pass(0.1);
  }
  return party.story();
}

TEST(VirtualNetwork, IsAFunctionOfItsSeed) {
  const std::vector<std::string> story = story_of(1);
  EXPECT_GT(story.size(), 1000u);
  EXPECT_EQ(story_of(1), story);
  EXPECT_NE(story_of(2), story);
}

}  // namespace
}  // namespace hearsay::peer
