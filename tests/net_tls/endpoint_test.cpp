#include "hearsay/net/tls/endpoint.h"

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "net_tls/endpoints.h"
#include "support/message_of.h"

namespace hearsay::net {
namespace {

class Endpoint : public ::testing::Test {
 protected:
  Endpoint() : sockets_(open_sockets()) {}
  ~Endpoint() override {
    for (std::uint32_t slot = 0; slot < peers_.size(); ++slot) {
      peers_.destroy(slot);
    }
    for (std::uint32_t slot = 0; slot < made_; ++slot) {
      EXPECT_EQ(peers_.seen_by(slot).broken(), "");
    }
    EXPECT_EQ(open_sockets(), sockets_) << "sockets are left";
  }

  /// Two that listen; peer 0 dials.
  void connect() {
    make(2);
    peers_.start(1);
    peers_.start(0, {1});
    ASSERT_TRUE(peers_.seen_by(0).wait_up(1)) << peers_.log_of(0).all();
    ASSERT_TRUE(peers_.seen_by(1).wait_up(0)) << peers_.log_of(1).all();
  }
  void make(std::uint32_t peers) {
    for (made_ = 0; made_ < peers; ++made_) peers_.make(made_);
  }
  /// Sends, again and again while the queue is full.
  void send_all(std::uint32_t from, std::uint32_t to, std::uint64_t first, std::uint64_t last) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (std::uint64_t number = first; number <= last; ++number) {
      while (!peers_.at(from).send(to, data_frame(number))) {
        ASSERT_LT(std::chrono::steady_clock::now(), end);
        std::this_thread::yield();
      }
    }
  }
  bool wait_number(std::uint32_t at, std::uint32_t from, std::uint64_t number) {
    return peers_.seen_by(at).wait(from, [&](const Recorder::Seen& seen) {
      return !seen.numbers.empty() && seen.numbers.back() == number;
    });
  }

  Endpoints peers_{3};
  std::size_t sockets_;
  std::uint32_t made_ = 0;
};

TEST_F(Endpoint, KnowsItsSlotAndPort) {
  make(2);
  EXPECT_EQ(peers_.at(0).slot(), 0u);
  EXPECT_EQ(peers_.at(1).slot(), 1u);
  EXPECT_NE(peers_.port(0), 0);
  EXPECT_NE(peers_.port(0), peers_.port(1));
  EXPECT_TRUE(peers_.at(0).reliable());
  const double now = peers_.at(0).now();
  EXPECT_GE(peers_.at(0).now(), now);
  EXPECT_FALSE(peers_.at(0).send(1, data_frame(1)));
}

TEST_F(Endpoint, RefusesAFleetWithoutItAndAnAddressInUse) {
  make(1);
  Recorder events(0);
  const auto parts = [&](const Identity& identity, Address listen) {
    return TlsEndpoint::Parts{.identity = identity,
                              .fleet = peers_.fleet(),
                              .events = events,
                              .limits = kTestLimits,
                              .listen = std::move(listen)};
  };
  const Identity stranger = Identity::generate();
  EXPECT_EQ(support::message_of([&] {
              TlsEndpoint(parts(stranger, {"127.0.0.1", 0}));
            }),
            "[fleet] has no peer with this one's id, " + to_text(stranger.id()) +
                "; add it on all devices");
  const Address used{"127.0.0.1", peers_.port(0)};
  EXPECT_EQ(
      support::message_of([&] { TlsEndpoint(parts(peers_.identity(1), used)); }),
      fmt::format("[listen] cannot listen on 127.0.0.1:{}: Address already in use", used.port));
}

TEST_F(Endpoint, BothSidesJudgeTheHelloOfTheOther) {
  make(2);
  peers_.seen_by(0).incarnation = 10;
  peers_.seen_by(1).incarnation = 11;
  peers_.start(1);
  peers_.start(0, {1});
  ASSERT_TRUE(peers_.seen_by(0).wait_up(1));
  ASSERT_TRUE(peers_.seen_by(1).wait_up(0));
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    const Recorder::Seen seen = peers_.seen_by(slot).seen(1 - slot);
    EXPECT_EQ(seen.hellos, 1);
    EXPECT_EQ(seen.judged, 1);
    EXPECT_EQ(seen.hello->incarnation, 11 - slot);
    EXPECT_EQ(seen.hello->slot, 1 - slot);
  }
}

TEST_F(Endpoint, FramesArriveInOrderAndOnce) {
  connect();
  constexpr std::uint64_t kFrames = 20'000;
  std::thread other([&] { send_all(1, 0, 1, kFrames); });
  send_all(0, 1, 1, kFrames);
  other.join();
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    ASSERT_TRUE(wait_number(slot, 1 - slot, kFrames));
    const auto numbers = peers_.seen_by(slot).seen(1 - slot).numbers;
    ASSERT_EQ(numbers.size(), kFrames);
    for (std::uint64_t k = 0; k < kFrames; ++k) ASSERT_EQ(numbers[k], k + 1);
  }
}

TEST_F(Endpoint, FramesOfEveryLengthArriveUnchanged) {
  connect();
  std::vector<Bytes> sent;
  for (std::size_t size = 1; size <= kTestLimits.longest_data; size += 9) {
    Bytes body(size);
    for (std::size_t k = 0; k < size; ++k) body[k] = static_cast<std::uint8_t>(k * size);
    sent.push_back(body);
    ASSERT_TRUE(peers_.at(0).send(1, data_frame(size, body)));
  }
  ASSERT_TRUE(peers_.seen_by(1).wait(
      0, [&](const Recorder::Seen& seen) { return seen.bodies.size() == sent.size(); }));
  EXPECT_EQ(peers_.seen_by(1).seen(0).bodies, sent);
}

TEST_F(Endpoint, APeerWithoutAddressDials) {
  peers_.make(0, std::nullopt);
  peers_.make(1);
  made_ = 2;
  EXPECT_EQ(peers_.port(0), 0);
  peers_.start(1, {0});  // it wants, but cannot
  peers_.start(0, {1});
  ASSERT_TRUE(peers_.seen_by(1).wait_up(0));
  send_all(1, 0, 1, 10);
  EXPECT_TRUE(wait_number(0, 1, 10));
}

TEST_F(Endpoint, NamesAreResolved) {
  make(2);
  peers_.fleet().peers[1].address->host = "localhost";  // ::1 too, where nobody listens
  peers_.start(1);
  peers_.start(0, {1});
  EXPECT_TRUE(peers_.seen_by(0).wait_up(1)) << peers_.log_of(0).all();
}

TEST_F(Endpoint, AllAddressesAreThoseOfBothKinds) {
  try {
    peers_.make(1, Address{"::", 0});
  } catch (const InvalidArgument&) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  peers_.make(0);
  made_ = 2;
  peers_.start(1);
  peers_.start(0, {1});
  EXPECT_TRUE(peers_.seen_by(0).wait_up(1)) << "by 127.0.0.1";
  peers_.fleet().peers[1].address->host = "::1";
  peers_.at(0).set_fleet(peers_.fleet());
  peers_.at(0).close(1, {ByeReason::kLeft});
  EXPECT_TRUE(peers_.seen_by(0).wait_up(1, 2)) << "by ::1";
}

TEST_F(Endpoint, IgnoresSlotsThatNobodyHas) {
  make(2);
  peers_.start(1);
  peers_.start(0, {0, 7, 1});
  EXPECT_TRUE(peers_.seen_by(0).wait_up(1));
  EXPECT_FALSE(peers_.at(0).send(0, data_frame(1)));
  EXPECT_FALSE(peers_.at(0).send(7, data_frame(1)));
  peers_.at(0).close(7, {ByeReason::kLeft});
  peers_.at(0).close(2, {ByeReason::kLeft});
}

TEST_F(Endpoint, DialsAgainUntilTheOtherIsThere) {
  make(2);
  const std::uint16_t port = peers_.port(1);
  peers_.destroy(1);
  peers_.start(0, {1});
  ASSERT_TRUE(peers_.log_of(0).wait("Connection refused"));
  peers_.make(1, Address{"127.0.0.1", port});
  peers_.start(1);
  ASSERT_TRUE(peers_.seen_by(0).wait_up(1));
  EXPECT_EQ(peers_.log_of(0).all(),
            fmt::format("no connection with peer-1 at 127.0.0.1:{}: Connection refused\n", port));
}

TEST_F(Endpoint, ConnectsAgainWithANewLifeOfTheOther) {
  connect();
  const std::uint16_t port = peers_.port(1);
  peers_.destroy(1);
  ASSERT_TRUE(peers_.seen_by(0).wait_down(1));
  EXPECT_EQ(peers_.seen_by(0).seen(1).why, "closed by the other: left");
  EXPECT_FALSE(peers_.at(0).send(1, data_frame(1)));
  peers_.make(1, Address{"127.0.0.1", port});
  peers_.seen_by(1).incarnation = 2;
  peers_.start(1);
  ASSERT_TRUE(peers_.seen_by(0).wait_up(1, 2));
  const Recorder::Seen seen = peers_.seen_by(0).seen(1);
  EXPECT_EQ(seen.hellos, 2);
  EXPECT_EQ(seen.judged, 2);
  EXPECT_EQ(seen.downs, 1);
  EXPECT_EQ(seen.hello->incarnation, 2u);
  send_all(0, 1, 1, 3);
  EXPECT_TRUE(wait_number(1, 0, 3));
}

TEST_F(Endpoint, WhatItWantsLaterItDialsLater) {
  make(3);
  peers_.start(1);
  peers_.start(2);
  peers_.start(0, {1});
  ASSERT_TRUE(peers_.seen_by(0).wait_up(1));
  EXPECT_EQ(peers_.seen_by(0).seen(2).hellos, 0);
  const std::vector<std::uint32_t> both{1, 2};
  peers_.at(0).want(both);
  ASSERT_TRUE(peers_.seen_by(0).wait_up(2));
  EXPECT_EQ(peers_.seen_by(0).seen(1).ups, 1);
}

TEST_F(Endpoint, CloseDeliversWhatWasSentAndTheReason) {
  std::promise<void> gate;
  const auto opened = gate.get_future().share();
  make(2);
  peers_.seen_by(0).corrupt = [opened](const Frame&) {  // none; but its io thread waits here
    opened.wait();
    return false;
  };
  peers_.start(1);
  peers_.start(0, {1});
  ASSERT_TRUE(peers_.seen_by(0).wait_up(1));
  ASSERT_TRUE(peers_.seen_by(1).wait_up(0));
  ASSERT_TRUE(peers_.at(1).send(0, data_frame(1)));
  constexpr std::uint64_t kFrames = 8000;  // 8 MB: more than fits into TCP before it is closed
  const Bytes body(kTestLimits.longest_data);
  for (std::uint64_t k = 1; k <= kFrames; ++k) {
    ASSERT_TRUE(peers_.at(0).send(1, data_frame(k, body)));
  }
  peers_.at(0).close(1, {ByeReason::kRefused});
  gate.set_value();
  ASSERT_TRUE(peers_.seen_by(1).wait_down(0));
  EXPECT_EQ(peers_.seen_by(1).seen(0).numbers.size(), kFrames);
  EXPECT_EQ(peers_.seen_by(1).seen(0).why, "closed by the other: refused");
  ASSERT_TRUE(peers_.seen_by(0).wait_down(1));
  EXPECT_EQ(peers_.seen_by(0).seen(1).why, "closed here: refused");
  EXPECT_TRUE(peers_.seen_by(0).wait_up(1, 2)) << "it is still wanted";
}

TEST_F(Endpoint, WhoIsRefusedByJudgeLearnsWhyAndGetsNoFrame) {
  make(2);
  std::atomic<bool> lets_in = false;
  peers_.seen_by(1).verdict = [&](std::uint32_t peer, const Hello&) -> std::optional<Bye> {
    if (lets_in) return std::nullopt;
    EXPECT_TRUE(peers_.at(1).send(peer, data_frame(1)));  // allowed, and never sent
    return Bye{ByeReason::kOldIncarnation, 77};
  };
  peers_.start(1);
  peers_.start(0, {1});
  ASSERT_TRUE(
      peers_.seen_by(0).wait(1, [](const Recorder::Seen& seen) { return seen.hellos > 1; }));
  EXPECT_EQ(peers_.seen_by(1).seen(0).ups, 0);
  EXPECT_EQ(peers_.seen_by(1).seen(0).downs, 0);
  lets_in = true;
  ASSERT_TRUE(peers_.seen_by(1).wait_up(0));
  // Over connections that were refused, the other side was up and got the reason.
  EXPECT_TRUE(peers_.seen_by(0).wait_up(1, 2));
  const Recorder::Seen seen = peers_.seen_by(0).seen(1);
  EXPECT_TRUE(seen.numbers.empty());
  EXPECT_EQ(seen.why, "closed by the other: old incarnation (77 is known)");
}

TEST_F(Endpoint, FramesSentWithinJudgeArriveFirst) {
  make(2);
  peers_.seen_by(1).verdict = [&](std::uint32_t peer, const Hello&) -> std::optional<Bye> {
    EXPECT_TRUE(peers_.at(1).send(peer, data_frame(1)));
    return std::nullopt;
  };
  peers_.start(1);
  peers_.start(0, {1});
  ASSERT_TRUE(peers_.seen_by(1).wait_up(0));
  send_all(1, 0, 2, 4);
  ASSERT_TRUE(wait_number(0, 1, 4));
  EXPECT_EQ(peers_.seen_by(0).seen(1).numbers, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(Endpoint, TheFleetFileCutsOffAndLetsInAgain) {
  connect();
  Fleet smaller = peers_.fleet();
  std::erase_if(smaller.peers, [](const FleetPeer& peer) { return peer.name == "peer-0"; });
  peers_.at(1).set_fleet(smaller);
  ASSERT_TRUE(peers_.seen_by(0).wait_down(1));
  EXPECT_EQ(peers_.seen_by(0).seen(1).why, "closed by the other: removed");
  ASSERT_TRUE(peers_.seen_by(1).wait_down(0));
  EXPECT_EQ(peers_.seen_by(1).seen(0).why, "no longer in the fleet file");
  ASSERT_TRUE(
      peers_.log_of(1).wait("refused: its key is that of " + to_text(peers_.identity(0).id())));
  EXPECT_EQ(peers_.seen_by(1).seen(0).hellos, 1) << "it gets no HELLO while it is not listed";
  peers_.at(1).set_fleet(peers_.fleet());
  ASSERT_TRUE(peers_.seen_by(1).wait_up(0, 2));
  ASSERT_TRUE(peers_.seen_by(0).wait_up(1, 2));
}

TEST_F(Endpoint, ANewAddressIsDialledAtOnce) {
  make(2);
  peers_.start(1);
  Fleet wrong = peers_.fleet();
  wrong.peers[1].address = Address{"127.0.0.1", peers_.port(0)};  // its own
  peers_.at(0).set_fleet(wrong);
  const std::vector<std::uint32_t> wanted{1};
  peers_.at(0).want(wanted);
  peers_.at(0).start();
  ASSERT_TRUE(peers_.log_of(0).wait("no connection with peer-1"));
  EXPECT_EQ(peers_.seen_by(0).seen(1).hellos, 0);
  peers_.at(0).set_fleet(peers_.fleet());
  EXPECT_TRUE(peers_.seen_by(0).wait_up(1));
}

TEST_F(Endpoint, DestructionWaitsForTheEventThatIsBeingCalled) {
  make(2);
  std::promise<void> called, destroying;
  std::atomic<bool> finished = false;
  peers_.seen_by(1).verdict = [&](std::uint32_t, const Hello&) -> std::optional<Bye> {
    called.set_value();
    destroying.get_future().wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that not to wait is noticed
    finished = true;
    return std::nullopt;
  };
  peers_.start(1);
  peers_.start(0, {1});
  called.get_future().wait();
  destroying.set_value();
  peers_.destroy(1);
  EXPECT_TRUE(finished);
}

TEST_F(Endpoint, AnEndpointThatWasNeverStartedCanBeUsedAndDestroyed) {
  make(2);
  const std::vector<std::uint32_t> wanted{1};
  peers_.at(0).set_fleet(peers_.fleet());
  peers_.at(0).want(wanted);
  EXPECT_FALSE(peers_.at(0).send(1, data_frame(1)));
  peers_.at(0).close(1, {});
}

TEST_F(Endpoint, MembersMayBeCalledFromManyThreadsAndWithinEvents) {
  make(2);
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    peers_.seen_by(slot).verdict = [&, slot](std::uint32_t peer,
                                             const Hello&) -> std::optional<Bye> {
      peers_.at(slot).want(std::vector{peer});
      peers_.at(slot).set_fleet(peers_.fleet());
      return std::nullopt;
    };
  }
  const Fleet fleet = peers_.fleet();
  peers_.start(0, {1});
  peers_.start(1, {0});
  std::vector<std::jthread> threads;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, slot = thread % 2] {
      const std::vector<std::uint32_t> wanted{1 - slot};
      for (std::uint64_t k = 1; k <= 2000; ++k) {
        peers_.at(slot).send(1 - slot, data_frame(k));
        if (k % 100 == 0) peers_.at(slot).want(wanted);
        if (k % 200 == 0) peers_.at(slot).set_fleet(fleet);
        if (k % 500 == 0) peers_.at(slot).close(1 - slot, {ByeReason::kStuck});
      }
    });
  }
  threads.clear();
  EXPECT_TRUE(peers_.seen_by(0).wait(1, [](const Recorder::Seen& seen) { return seen.up; }));
}

}  // namespace
}  // namespace hearsay::net
