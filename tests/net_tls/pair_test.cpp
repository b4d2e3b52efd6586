// Which of two connections of a pair of peers stays.
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "net_tls/endpoints.h"
#include "net_tls/raw_tls.h"

namespace hearsay::net {
namespace {

/// All dial all, at the same moment.
TEST(BothDial, OneConnectionStays) {
  constexpr std::uint32_t kPeers = 16;
  const std::size_t before = open_sockets();
  for (int round = 0; round < 3; ++round) {
    Endpoints peers(kPeers);
    std::vector<std::uint32_t> all;
    for (std::uint32_t slot = 0; slot < kPeers; ++slot) {
      peers.make(slot);
      all.push_back(slot);
    }
    for (std::uint32_t slot = 0; slot < kPeers; ++slot) peers.start(slot, all);
    for (std::uint32_t a = 0; a < kPeers; ++a) {
      for (std::uint32_t b = 0; b < kPeers; ++b) {
        if (a == b) continue;
        ASSERT_TRUE(peers.seen_by(a).wait_up(b)) << peers.log_of(a).all();
      }
    }
    // A listener each, and both ends of a connection a pair.
    EXPECT_TRUE(come_to_sockets(before + kPeers + kPeers * (kPeers - 1)))
        << open_sockets() - before;
    for (std::uint32_t a = 0; a < kPeers; ++a) {
      for (std::uint32_t b = 0; b < kPeers; ++b) {
        if (a == b) continue;
        EXPECT_TRUE(peers.at(a).send(b, data_frame(a * kPeers + b + 1)));
      }
    }
    for (std::uint32_t a = 0; a < kPeers; ++a) {
      for (std::uint32_t b = 0; b < kPeers; ++b) {
        if (a == b) continue;
        ASSERT_TRUE(peers.seen_by(a).wait(
            b, [](const Recorder::Seen& seen) { return !seen.numbers.empty(); }));
        const Recorder::Seen seen = peers.seen_by(a).seen(b);
        EXPECT_EQ(seen.numbers, std::vector<std::uint64_t>{b * kPeers + a + 1});
        EXPECT_EQ(seen.ups, 1);
        EXPECT_EQ(seen.downs, 0);
      }
      EXPECT_EQ(peers.seen_by(a).broken(), "");
      EXPECT_EQ(peers.log_of(a).all(), "");
    }
  }
  EXPECT_EQ(open_sockets(), before);
}

/// One endpoint, and the other peer of the pair by hand, with a port of its own.
class Pair : public ::testing::Test {
 protected:
  ~Pair() override { EXPECT_EQ(seen().broken(), ""); }

  /// The endpoint's id is the smaller one with slot 0, the larger one with slot 1.
  void make(std::uint32_t slot) {
    self_ = slot;
    other_ = 1 - slot;
    peers_.make(slot);
    peers_.fleet().peers[other_].address = Address{"127.0.0.1", listener_.port()};
  }
  Recorder& seen() { return peers_.seen_by(self_); }
  RawPeer raw(RawSocket socket, RawPeer::Side side) {
    RawPeer made(std::move(socket), side, {.key = key_of(peers_.identity(other_))});
    EXPECT_TRUE(made.shaken()) << made.error();
    return made;
  }
  RawPeer dials() { return raw(RawSocket::connected(peers_.port(self_)), RawPeer::Side::kClient); }
  RawPeer is_dialled() { return raw(listener_.accept(), RawPeer::Side::kServer); }
  bool says_hello(RawPeer& raw) { return raw.write(encode_frame(raw_hello(other_))); }
  bool gets_hello(RawPeer& raw) { return raw.read(kHelloFrameBytes).size() == kHelloFrameBytes; }
  /// The endpoint's frames come out here.
  void expect_connected(RawPeer& raw) {
    ASSERT_TRUE(peers_.at(self_).send(other_, data_frame(9)));
    EXPECT_EQ(raw.read(data_frame(9).size()), data_frame(9));
  }

  RawListener listener_;
  Endpoints peers_{2};
  std::uint32_t self_ = 0, other_ = 1;
};

TEST_F(Pair, OfTwoThatBeganTogetherThatOfTheSmallerIdStays) {
  make(0);
  peers_.start(0, {1});
  RawPeer first = is_dialled();
  ASSERT_TRUE(gets_hello(first));
  RawPeer second = dials();
  ASSERT_TRUE(says_hello(second));
  EXPECT_EQ(second.read_all(), encode_frame(ByeReason::kDuplicate));
  ASSERT_TRUE(says_hello(first));
  ASSERT_TRUE(seen().wait_up(1));
  expect_connected(first);
  EXPECT_EQ(seen().seen(1).hellos, 1);
}

TEST_F(Pair, OfTwoThatBeganTogetherThatOfTheLargerIdGoes) {
  make(1);
  peers_.start(1, {0});
  RawPeer first = is_dialled();
  ASSERT_TRUE(gets_hello(first));
  RawPeer second = dials();
  ASSERT_TRUE(says_hello(second));
  ASSERT_TRUE(gets_hello(second));
  EXPECT_EQ(first.read_all(), encode_frame(ByeReason::kDuplicate));
  ASSERT_TRUE(seen().wait_up(0));
  expect_connected(second);
  EXPECT_EQ(seen().seen(0).downs, 0) << "the first was never up";
}

TEST_F(Pair, WhoseConnectionIsUpMayMakeAnotherWhoeverDialledTheFirst) {
  for (const std::uint32_t slot : {0u, 1u}) {
    make(slot);
    peers_.start(slot, {other_});
    {
      RawPeer first = is_dialled();
      ASSERT_TRUE(says_hello(first));
      ASSERT_TRUE(gets_hello(first));
      ASSERT_TRUE(seen().wait_up(other_));
      RawPeer second = dials();
      ASSERT_TRUE(says_hello(second));
      ASSERT_TRUE(gets_hello(second));
      EXPECT_EQ(first.read_all(), encode_frame(ByeReason::kDuplicate));
      ASSERT_TRUE(seen().wait_up(other_, 2));
      EXPECT_EQ(seen().seen(other_).downs, 1);
      EXPECT_EQ(seen().seen(other_).why, "it made another connection");
      expect_connected(second);
    }
    peers_.destroy(slot);
  }
}

TEST_F(Pair, WhatItAcceptedFirstItKeepsAndClosesItsOwn) {
  make(0);
  peers_.start(0);
  RawPeer accepted = dials();
  ASSERT_TRUE(gets_hello(accepted));
  const std::vector<std::uint32_t> wanted{1};
  peers_.at(0).want(wanted);  // no need to dial
  ASSERT_TRUE(says_hello(accepted));
  ASSERT_TRUE(seen().wait_up(1));
  expect_connected(accepted);
}

TEST_F(Pair, WithoutHelloAnotherConnectionReplacesNothing) {
  make(0);
  peers_.start(0);
  RawPeer first = dials();
  ASSERT_TRUE(says_hello(first));
  ASSERT_TRUE(gets_hello(first));
  ASSERT_TRUE(seen().wait_up(1));
  std::vector<std::unique_ptr<RawPeer>> more;
  for (int k = 0; k < 5; ++k) more.push_back(std::make_unique<RawPeer>(dials()));
  // Each of these replaced the one that waited before it; none got a HELLO.
  for (int k = 0; k < 4; ++k) EXPECT_EQ(more[k]->read_all(), encode_frame(ByeReason::kDuplicate));
  expect_connected(first);
  EXPECT_EQ(seen().seen(1).downs, 0);
  EXPECT_EQ(seen().hellos(), 1);
}

TEST_F(Pair, WhoWaitsIsLetInWhenTheOtherConnectionEnds) {
  make(0);
  peers_.start(0);
  auto first = std::make_unique<RawPeer>(dials());
  ASSERT_TRUE(gets_hello(*first));
  RawPeer second = dials();
  first.reset();
  ASSERT_TRUE(gets_hello(second));
  ASSERT_TRUE(says_hello(second));
  ASSERT_TRUE(seen().wait_up(1));
  expect_connected(second);
}

}  // namespace
}  // namespace hearsay::net
