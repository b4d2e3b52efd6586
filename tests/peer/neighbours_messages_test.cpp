// Messages that neighbours send, receive, refuse, repeat and take back.
#include <gtest/gtest.h>

#include <limits>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/net/bye.h"
#include "peer/peer_zero.h"
#include "support/message_of.h"

namespace hearsay::peer {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
TEST(Neighbours, HandOutAndAckWhatArrived) {
  PeerZero zero;
  zero.connect(1);
  zero.receive({.number = 1});
  zero.receive({.number = 3});
  EXPECT_TRUE(zero.wire.sent.empty()) << "acked is what is applied";
  const Neighbours::Mail mail = zero.neighbours.take();
  ASSERT_EQ(mail.arrived.size(), 2u);
  EXPECT_EQ(mail.arrived[0].number, 1u);
  EXPECT_EQ(mail.arrived[0].life, kLife);
  EXPECT_EQ(mail.arrived[0].header, PeerZero::Message().header);
  EXPECT_EQ(mail.arrived[0].vector->index, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(mail.arrived[0].vector->value, (std::vector<float>{-2, 4}));
  const net::Ack ack = zero.take_ack();
  EXPECT_EQ(ack.highest, 3u);
  EXPECT_EQ(ack.seen & 7, 0b101u);
  EXPECT_EQ(ack.refused & 7, 0u);
  EXPECT_TRUE(zero.neighbours.take().arrived.empty());
  EXPECT_TRUE(zero.wire.sent.empty());
}

TEST(Neighbours, AckADuplicateAgainAndDropIt) {
  PeerZero zero(false);
  zero.connect(1);
  zero.receive({});
  zero.neighbours.take();
  const net::Ack ack = zero.take_ack();
  zero.receive({});
  EXPECT_TRUE(zero.neighbours.take().arrived.empty());
  EXPECT_EQ(zero.take_ack(), ack);
}

TEST(Neighbours, ReadUncompressedMessages) {
  PeerZero zero;
  zero.connect(1);
  zero.receive({.uncompressed = true});
  const Neighbours::Mail mail = zero.neighbours.take();
  ASSERT_EQ(mail.arrived.size(), 1u);
  EXPECT_FALSE(mail.arrived[0].vector->sparse);
  EXPECT_EQ(mail.arrived[0].vector->dense, (std::vector<float>{1, -2, 4}));
}

TEST(Neighbours, SendMessagesWithTheirNumberAndFlag) {
  PeerZero zero;
  zero.connect(2);
  zero.wire.time = 5;
  const compress::MessageHeader header{.sender = 0, .round = 3, .weight = 0.5f, .push_sum = 0.75};
  for (const bool uncompressed : {false, true}) {
    const std::optional<SentMessage> sent =
        zero.neighbours.send(2, {.header = header,
                                 .code = std::make_shared<const Bytes>(Bytes{1, 2, 3}),
                                 .uncompressed = uncompressed});
    ASSERT_TRUE(sent);
    const SentMessage& message = *sent;
    EXPECT_EQ(message.number, uncompressed ? 2u : 1u);
    EXPECT_EQ(message.receiver, 2u);
    EXPECT_EQ(message.life, kLife);
    EXPECT_EQ(message.first_sent, 5);
    const auto frames = zero.take_sent(net::FrameType::kData);
    ASSERT_EQ(frames.size(), 1u);
    const net::Frame frame = net::decode_frame(frames[0].second, zero.neighbours.limits());
    EXPECT_EQ(frame.header.number, message.number);
    EXPECT_EQ(frame.header.flags, uncompressed ? net::kUncompressedFlag : 0);
    ByteReader body(frame.body, "data");
    EXPECT_EQ(compress::read_header(body), header);
    EXPECT_EQ(body.left(), 3u);
  }
  EXPECT_EQ(zero.neighbours.open(), 2u);
}

/// Whether a message is refused: not handed out, and acked so that its sender takes it back.
bool is_refused(const PeerZero::Message& message) {
  PeerZero zero;
  zero.connect(1);
  zero.receive(message);
  const bool handed_out = !zero.neighbours.take().arrived.empty();

  Edge sender;
  sender.up({.incarnation = kOwnLife, .known = kLife, .next = 1}, kLife);
  sender.send({.code = std::make_shared<const Bytes>()});
  sender.acked(zero.take_ack());
  EXPECT_EQ(sender.unacked(), 0u);
  EXPECT_NE(handed_out, sender.returned().size() == 1);
  return !handed_out;
}

PeerZero::Message with_weights(float weight, double push_sum) {
  PeerZero::Message message;
  message.header.weight = weight;
  message.header.push_sum = push_sum;
  return message;
}

TEST(Neighbours, RefuseWeightsOutOfRange) {
  EXPECT_FALSE(is_refused(with_weights(1, 4 * kFleet - 0.001)));
  EXPECT_FALSE(is_refused(with_weights(1e-30f, 1e-30)));
  EXPECT_TRUE(is_refused(with_weights(1.001f, 1)));
  EXPECT_TRUE(is_refused(with_weights(1, 4 * kFleet + 0.001)));
  EXPECT_TRUE(is_refused(with_weights(1, 1e300)));
  for (const float bad : {0.0f, -0.5f, kNan, kInfinity}) {
    EXPECT_TRUE(is_refused(with_weights(bad, 1)));
    EXPECT_TRUE(is_refused(with_weights(1, static_cast<double>(bad))));
  }
}

TEST(Neighbours, RefuseValuesThatAreNotFinite) {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    EXPECT_TRUE(is_refused({.vector = {1, bad, 4}}));
    EXPECT_TRUE(is_refused({.vector = {1, bad, 4}, .uncompressed = true}));
  }
}

TEST(Neighbours, RefuseCodesThatDoNotDecode) {
  const auto shorten = [](Bytes& code) { code.pop_back(); };
  const auto lengthen = [](Bytes& code) { code.push_back(0); };
  for (const bool uncompressed : {false, true}) {
    EXPECT_FALSE(is_refused({.uncompressed = uncompressed}));
    EXPECT_TRUE(is_refused({.uncompressed = uncompressed, .damage = shorten}));
    EXPECT_TRUE(is_refused({.uncompressed = uncompressed, .damage = lengthen}));
  }
}

TEST(Neighbours, RefuseAVectorThatIsNoModel) {
  PeerZero::Message message;
  message.header.kind = compress::MessageKind::kAuxiliary;
  EXPECT_TRUE(is_refused(message));
}

TEST(Neighbours, SayWhatTheyRefuse) {
  PeerZero zero;
  zero.connect(1);
  zero.receive({.vector = {1, kNan, 4}});
  EXPECT_EQ(zero.log.back(),
            "peer 1 sent a message with values that are not finite; it is refused");
}

/// Peer 1 sends such a message at that time.
void receive_refused(PeerZero& zero, double now, std::uint64_t number) {
  zero.wire.time = now;
  zero.receive({.number = number, .vector = {1, kNan, 4}});
}

TEST(Neighbours, ShutOutForTenMinutesAfterThreeRefusals) {
  PeerZero zero;
  zero.connect(1);
  receive_refused(zero, 1, 1);
  receive_refused(zero, 2, 2);
  EXPECT_TRUE(zero.wire.closed.empty());
  receive_refused(zero, 3, 3);
  ASSERT_EQ(zero.wire.closed.size(), 1u);
  EXPECT_EQ(zero.wire.closed[0], std::pair(1u, net::ByeReason::kRefused));
  EXPECT_EQ(zero.take_ack().refused & 7, 7u) << "it is told before it is closed";
  zero.neighbours.down(1, "closed here");
  zero.wire.time = 602.9;
  EXPECT_EQ(verdict_of(zero.neighbours.judge(1, PeerZero::hello_from(1))),
            bye_with(net::ByeReason::kRefused));
  EXPECT_FALSE(zero.send(1));
  zero.connect(2);  // others have nothing to do with it
  zero.wire.time = 603;
  zero.connect(1);
  receive_refused(zero, 603, 4);
  EXPECT_EQ(zero.wire.closed.size(), 1u) << "it has paid for the first three";
}

TEST(Neighbours, ForgetRefusalsAfterTenMinutes) {
  PeerZero zero;
  zero.connect(1);
  receive_refused(zero, 1, 1);
  receive_refused(zero, 2, 2);
  receive_refused(zero, 602, 3);
  EXPECT_TRUE(zero.wire.closed.empty());
  receive_refused(zero, 602, 4);
  EXPECT_EQ(zero.wire.closed.size(), 1u);
}

TEST(Neighbours, RejectAMessageInAnothersName) {
  PeerZero zero;
  zero.connect(1);
  PeerZero::Message message;
  message.header.sender = 2;
  EXPECT_EQ(support::message_of<CorruptData>([&] { zero.receive(message); }),
            "[data] peer 1 sends in the name of peer 2");
  EXPECT_TRUE(zero.neighbours.take().arrived.empty());
}

TEST(Neighbours, RejectFramesThatHaveNoPlaceOnAConnection) {
  PeerZero zero;
  zero.connect(1);
  EXPECT_EQ(support::message_of<CorruptData>(
                [&] { zero.receive(1, net::encode_frame(PeerZero::hello_from(1))); }),
            "[frame] a HELLO has no place here");
  EXPECT_EQ(support::message_of<CorruptData>(
                [&] { zero.receive(1, net::encode_frame(net::ByeReason::kLeft)); }),
            "[frame] a BYE has no place here");
}

TEST(Neighbours, RejectNumbersThatCannotBe) {
  PeerZero zero;
  zero.connect(1);
  EXPECT_THROW(zero.receive({.number = Edge::kWindow + 1}), CorruptData);
  EXPECT_THROW(zero.receive(1, net::encode_frame(net::Ack{.highest = 1})), CorruptData);
}

TEST(Neighbours, IgnoreFramesOfWhoIsNotConnected) {
  PeerZero zero;
  zero.receive({});
  zero.connect(1);
  zero.neighbours.down(1, "closed");
  zero.receive({});
  zero.receive_pulse(1, {{.slot = 2, .incarnation = 300, .beat = 1}});
  EXPECT_TRUE(zero.neighbours.take().arrived.empty());
  EXPECT_FALSE(zero.is_live(2));
}

/// The messages that are repeated at that time, from a peer that is not silent.
std::vector<std::pair<std::uint32_t, Bytes>> repeated_at(PeerZero& zero, double now, float rate) {
  zero.wire.time = now;
  zero.receive_pulse(1, {{.slot = 1,
                          .incarnation = kLife,
                          .beat = 1 + static_cast<std::uint64_t>(8 * now),
                          .rate = rate}});
  zero.neighbours.tick();
  return zero.take_sent(net::FrameType::kData);
}

TEST(Neighbours, RepeatTheSameBytesOverAWireThatLosesFrames) {
  PeerZero zero(false);
  zero.connect(1);
  zero.send(1);
  const auto first = zero.take_sent(net::FrameType::kData);
  EXPECT_TRUE(repeated_at(zero, 0, 0).empty());
  EXPECT_EQ(repeated_at(zero, 1, 0), first);
  EXPECT_TRUE(repeated_at(zero, 1, 0).empty());
  EXPECT_EQ(repeated_at(zero, 2, 0), first);
  zero.receive(1, net::encode_frame(net::Ack{.highest = 1, .seen = 1}));
  EXPECT_EQ(zero.neighbours.open(), 0u);
  EXPECT_TRUE(repeated_at(zero, 3, 0).empty());
}

TEST(Neighbours, GiveASlowReceiverAtLeastARoundBeforeTheyRepeat) {
  PeerZero zero(false);
  zero.connect(1);
  zero.receive_pulse(1, {{.slot = 1, .incarnation = kLife, .beat = 1, .rate = 0.5f}});
  zero.send(1);
  zero.take_sent(net::FrameType::kData);
  EXPECT_TRUE(repeated_at(zero, 2, 0.5f).empty());
  EXPECT_EQ(repeated_at(zero, 4, 0.5f).size(), 1u);
}

TEST(Neighbours, RepeatNothingOverAReliableWire) {
  PeerZero zero;
  zero.connect(1);
  zero.send(1);
  zero.take_sent(net::FrameType::kData);
  zero.wire.time = 2.5;
  zero.neighbours.tick();
  EXPECT_TRUE(zero.take_sent(net::FrameType::kData).empty());
}

TEST(Neighbours, ReturnWhatTheOtherRefused) {
  PeerZero zero;
  zero.connect(1);
  zero.send(1);
  zero.receive(1, net::encode_frame(net::Ack{.highest = 1, .seen = 1, .refused = 1}));
  EXPECT_EQ(zero.neighbours.open(), 1u) << "its mass has yet to return";
  const Neighbours::Mail mail = zero.neighbours.take();
  EXPECT_EQ(zero.neighbours.open(), 0u);
  ASSERT_EQ(mail.returned.size(), 1u);
  EXPECT_EQ(mail.returned[0].receiver, 1u);
  EXPECT_TRUE(zero.neighbours.take().returned.empty());
}

TEST(Neighbours, PayWhatTheyOweWhenTheyCanAffordIt) {
  PeerZero zero;
  for (const std::uint32_t peer : {1u, 2u}) {
    zero.connect(peer);
    zero.send(peer, peer == 1 ? 0.5f : 0.25f);
    zero.neighbours.down(peer, "closed");
    net::Hello hello = PeerZero::hello_from(peer);
    hello.known = kOwnLife;
    hello.highest = hello.arrived = 1;
    EXPECT_FALSE(zero.neighbours.judge(peer, hello));
    EXPECT_EQ(zero.neighbours.unsettled(peer), 1u);
  }
  EXPECT_EQ(zero.neighbours.take().returned.size(), 2u);
  EXPECT_FALSE(zero.neighbours.pay(0.125));
  const auto second = zero.neighbours.pay(0.25);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->receiver, 2u);
  EXPECT_FALSE(zero.neighbours.pay(0.25));
  const auto first = zero.neighbours.pay(0.5);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->receiver, 1u);
  EXPECT_EQ(zero.neighbours.unsettled(1) + zero.neighbours.unsettled(2), 0u);
  EXPECT_FALSE(zero.neighbours.pay(100));
}

TEST(Neighbours, RefuseMessagesWhileTheyHaveNoModel) {
  PeerZero zero;
  zero.neighbours.tell({.status = net::Status::kEntering});
  zero.connect(1);
  zero.receive({.number = 1});
  const net::Ack ack = zero.take_ack();
  EXPECT_EQ(ack.refused, 1u) << "so that the sender keeps its mass";
  EXPECT_TRUE(zero.neighbours.take().arrived.empty());
  zero.neighbours.tell({.status = net::Status::kTraining});
  zero.receive({.number = 2});
  EXPECT_EQ(zero.neighbours.take().arrived.size(), 1u);
  EXPECT_TRUE(zero.wire.closed.empty());
}

TEST(Neighbours, KeepNoMoreMessagesOfAPeerThanAnHonestOneSends) {
  PeerZero zero;
  zero.connect(1);
  for (std::uint64_t k = 1; k <= Neighbours::kMostWaiting + 3; ++k) zero.receive({.number = k});
  EXPECT_EQ(zero.neighbours.take().arrived.size(), Neighbours::kMostWaiting);
  const net::Ack ack = zero.take_ack();
  EXPECT_EQ(ack.refused, 7u) << "the last three";
  zero.receive({.number = Neighbours::kMostWaiting + 4});
  EXPECT_EQ(zero.neighbours.take().arrived.size(), 1u);
}

}  // namespace
}  // namespace hearsay::peer
