#include "hearsay/peer/neighbours.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/net/ack.h"
#include "hearsay/net/bye.h"
#include "hearsay/net/model_piece.h"
#include "hearsay/net/record.h"
#include "peer/peer_zero.h"
#include "support/message_of.h"

namespace hearsay::peer {
namespace {

TEST(Neighbours, SayWhoTheyAreInAHello) {
  PeerZero zero;
  zero.neighbours.tell({.rounds = 12});
  EXPECT_EQ(
      zero.neighbours.hello(1),
      (net::Hello{
          .run = kRun, .incarnation = kOwnLife, .rounds = 12, .next = 1, .slot = 0, .port = 7420}));
  zero.connect(1);
  zero.send(1);
  zero.receive({.number = 3});
  zero.neighbours.down(1, "closed");
  const net::Hello hello = zero.neighbours.hello(1);
  EXPECT_EQ(hello.known, kLife);
  EXPECT_EQ(hello.next, 2u);
  EXPECT_EQ(hello.highest, 3u);
  EXPECT_EQ(hello.arrived, 1u);
}

TEST(Neighbours, LetInWhoTrainsTheSameRun) {
  PeerZero zero;
  EXPECT_FALSE(zero.is_live(1) || zero.send(1));
  EXPECT_EQ(zero.neighbours.judge(1, PeerZero::hello_from(1)), std::nullopt);
  EXPECT_TRUE(zero.is_live(1));
  EXPECT_EQ(zero.log, (std::vector<std::string>{"peer 1 is connected"}));
  EXPECT_TRUE(zero.wire.sent.empty());
  EXPECT_TRUE(zero.send(1));
}

TEST(Neighbours, TurnAwayAHelloInAnotherName) {
  PeerZero zero;
  EXPECT_EQ(verdict_of(zero.neighbours.judge(1, PeerZero::hello_from(2))),
            bye_with(net::ByeReason::kCorrupt));
  EXPECT_EQ(zero.log.back(), "peer 1 says that it is peer 2; it is not let in");
  EXPECT_FALSE(zero.is_live(1) || zero.is_live(2));
}

TEST(Neighbours, TurnAwayAnotherRun) {
  PeerZero zero;
  net::Hello hello = PeerZero::hello_from(1);
  hello.run[31] = std::byte{1};
  EXPECT_EQ(verdict_of(zero.neighbours.judge(1, hello)), bye_with(net::ByeReason::kWrongRun));
  EXPECT_FALSE(zero.is_live(1));
}

TEST(Neighbours, TurnAwayAnEarlierLifeAndSayWhichIsKnown) {
  PeerZero zero;
  zero.connect(1, kLife);
  zero.receive_pulse(1, {{.slot = 2, .incarnation = 300, .beat = 1}});
  EXPECT_EQ(verdict_of(zero.neighbours.judge(2, PeerZero::hello_from(2, 299))),
            bye_with(net::ByeReason::kOldIncarnation, 300));
  EXPECT_EQ(verdict_of(zero.neighbours.judge(2, PeerZero::hello_from(2, 300))), bye_with({}));
}

TEST(Neighbours, PulseEveryHalfSecondToWhoIsConnected) {
  PeerZero zero;
  zero.connect(1);
  zero.connect(3);
  for (int k = 0; k < 16; ++k) {
    zero.wire.time += 0.125;
    zero.neighbours.tick();
    const auto pulses = zero.take_sent(net::FrameType::kPulse);
    if (k % 4 != 3) {
      EXPECT_TRUE(pulses.empty());
      continue;
    }
    ASSERT_EQ(pulses.size(), 2u);
    EXPECT_EQ(pulses[0].first, 1u);
    EXPECT_EQ(pulses[1].first, 3u);
    const auto records =
        net::decode_records(net::decode_frame(pulses[0].second, zero.neighbours.limits()).body);
    EXPECT_EQ(records[0].slot, 0u);
    EXPECT_EQ(records[0].beat, static_cast<std::uint64_t>(k / 4 + 1));
  }
}

TEST(Neighbours, PassOnWhatTheyAreTold) {
  PeerZero zero;
  zero.connect(1);
  zero.receive_pulse(1, {{.slot = 1, .incarnation = kLife, .beat = 3, .rounds = 8},
                         {.slot = 2, .incarnation = 300, .beat = 4, .rounds = 9},
                         {.slot = 0, .incarnation = 999, .beat = 9, .rounds = 99}});
  zero.neighbours.members([](const Members& members) {
    EXPECT_EQ(members.record(1).rounds, 8u);
    EXPECT_EQ(members.record(2).rounds, 9u);
    EXPECT_EQ(members.own().incarnation, kOwnLife);
  });
}

TEST(Neighbours, TellNothingOfSlotIncarnationAndBeat) {
  PeerZero zero;
  zero.wire.time = 1;
  zero.neighbours.tick();
  zero.neighbours.tell({.slot = 3, .incarnation = 5, .beat = 77, .rounds = 12, .rate = 2});
  zero.neighbours.members([](const Members& members) {
    EXPECT_EQ(
        members.own(),
        (net::Record{.slot = 0, .incarnation = kOwnLife, .beat = 1, .rounds = 12, .rate = 2}));
  });
}

TEST(Neighbours, WaitForALongFrameThatIsOnItsWay) {
  PeerZero zero;
  zero.connect(1);
  for (const double time : {2.0, 4.0, 6.0, 8.0}) {
    zero.wire.time = time;
    zero.neighbours.more_of_a_frame(1);
    zero.neighbours.tick();
  }
  EXPECT_TRUE(zero.wire.closed.empty());
  EXPECT_TRUE(zero.is_live(1)) << "its pulses come after that frame";
  zero.wire.time = 11;
  zero.neighbours.tick();
  EXPECT_EQ(zero.wire.closed.size(), 1u);
}

TEST(Neighbours, CloseAConnectionThatIsSilentForTwoAndAHalfSeconds) {
  PeerZero zero;
  zero.wire.time = 10;
  zero.connect(1);
  for (int k = 0; k < 3; ++k) zero.send(1);
  zero.wire.time = 11;
  zero.receive_pulse(1, {{.slot = 1, .incarnation = kLife, .beat = 1}});
  zero.wire.time = 13.5;
  zero.neighbours.tick();
  EXPECT_TRUE(zero.wire.closed.empty());
  zero.wire.time = 13.625;
  zero.neighbours.tick();
  ASSERT_EQ(zero.wire.closed.size(), 1u);
  EXPECT_EQ(zero.wire.closed[0], std::pair(1u, net::ByeReason::kStuck));
  zero.neighbours.down(1, "closed here");
  EXPECT_EQ(zero.log.back(), "peer 1 is gone (silent for 2.5 s); 3 messages taken back");
  EXPECT_FALSE(zero.is_live(1) || zero.send(1));
  EXPECT_EQ(zero.neighbours.take().returned.size(), 3u);
  EXPECT_EQ(zero.neighbours.unsettled(1), 3u);
}

TEST(Neighbours, CloseAConnectionThatDoesNotAck) {
  PeerZero zero;
  zero.connect(1);
  zero.send(1);
  for (std::uint64_t k = 1; k <= 12; ++k) {
    EXPECT_TRUE(zero.wire.closed.empty()) << k;
    zero.wire.time = static_cast<double>(k);
    zero.receive_pulse(1, {{.slot = 1, .incarnation = kLife, .beat = k, .rounds = k / 4}});
    zero.neighbours.tick();
  }
  ASSERT_EQ(zero.wire.closed.size(), 1u);  // after 10 seconds and 3 rounds
  EXPECT_EQ(zero.wire.closed[0], std::pair(1u, net::ByeReason::kStuck));
  zero.neighbours.down(1, "closed here");
  EXPECT_EQ(zero.log.back(),
            "peer 1 is gone (does not ack what is sent to it); 1 message taken back");
}

TEST(Neighbours, SayWhyTheWireLostAConnection) {
  PeerZero zero;
  zero.connect(1);
  zero.neighbours.down(1, "connection reset");
  EXPECT_EQ(zero.log.back(), "peer 1 is gone (connection reset); 0 messages taken back");
}

TEST(Neighbours, WantWhomTheTrainerWants) {
  PeerZero zero;
  zero.neighbours.want(std::vector<std::uint32_t>{1, 3});
  EXPECT_EQ(zero.wire.wanted, (std::vector<std::uint32_t>{1, 3}));
}

TEST(Neighbours, SayGoodbyeToWhoIsConnected) {
  PeerZero zero;
  zero.connect(1);
  zero.connect(3);
  zero.neighbours.leave();
  ASSERT_EQ(zero.wire.closed.size(), 2u);
  EXPECT_EQ(zero.wire.closed[0], std::pair(1u, net::ByeReason::kLeft));
  EXPECT_EQ(zero.wire.closed[1], std::pair(3u, net::ByeReason::kLeft));
}

TEST(Neighbours, GiveTheirModelToWhoAsks) {
  PeerZero zero;
  zero.connect(1);
  const Bytes ask = net::encode_frame(net::FrameType::kAsk, 0, 0, {});
  EXPECT_THROW(
      zero.receive(1,
                   net::encode_frame(net::ModelPiece{
                       .total = 20, .offset = 0, .bytes = ByteView(ask).first(4), .digest = {}})),
      CorruptData)
      << "nobody has asked for it";
  EXPECT_FALSE(zero.neighbours.model_is_wanted());
  zero.receive(1, ask);
  EXPECT_TRUE(zero.neighbours.model_is_wanted());
  zero.neighbours.hand_over_model(std::vector<float>{1, 2, 3}, std::vector<float>{4, 5});
  const auto pieces = zero.take_sent(net::FrameType::kModel);
  ASSERT_EQ(pieces.size(), 1u);
  PeerZero other;  // plays peer 1, and hears from its peer 1 what was sent to it
  other.connect(1);
  EXPECT_FALSE(other.neighbours.ask_for_model(2)) << "no connection";
  EXPECT_TRUE(other.neighbours.ask_for_model(1));
  EXPECT_EQ(other.take_sent(net::FrameType::kAsk).size(), 1u);
  other.receive(1, pieces[0].second);
  EXPECT_EQ(other.neighbours.take_model(), (std::vector<float>{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace hearsay::peer
