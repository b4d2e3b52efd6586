#include "hearsay/peer/neighbours.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/net/ack.h"
#include "hearsay/net/bye.h"
#include "hearsay/net/model_piece.h"
#include "hearsay/net/record.h"
#include "peer/fake_wire.h"
#include "support/message_of.h"

namespace hearsay::peer {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::array<std::byte, 32> kRun{std::byte{7}};
constexpr std::uint32_t kFleet = 4;
constexpr std::uint64_t kOwnLife = 100, kLife = 200;  ///< of peer 0, and of each other

/// Peer 0 of four, whose models have three entries, and what the test makes of the others.
class PeerZero {
 public:
  explicit PeerZero(bool reliable = true) {
    wire.is_reliable = reliable;
    neighbours.use({.wire = wire, .run = kRun, .port = 7420});
  }

  static net::Hello hello_from(std::uint32_t peer, std::uint64_t life = kLife) {
    return {.run = kRun, .incarnation = life, .next = 1, .slot = peer};
  }
  void connect(std::uint32_t peer, std::uint64_t life = kLife) {
    EXPECT_FALSE(neighbours.judge(peer, hello_from(peer, life)));
  }

  void receive(std::uint32_t peer, const Bytes& frame) {
    neighbours.frame(peer, net::decode_frame(frame, neighbours.limits()));
  }
  void receive_pulse(std::uint32_t peer, const std::vector<net::Record>& records) {
    receive(peer, net::encode_frame(records));
  }

  /// A message of peer 1 to it.
  struct Message {
    std::uint64_t number = 1;
    compress::MessageHeader header = {.sender = 1, .round = 5, .weight = 0.25f, .push_sum = 0.5};
    std::vector<float> vector = {1, -2, 4};
    bool uncompressed = false;
    std::function<void(Bytes& code)> damage = nullptr;
  };
  Bytes frame_with(const Message& message) const {
    Bytes code, body;
    if (message.uncompressed) {
      append(code, std::span<const float>(message.vector));
    } else {
      compress::Decoded decoded;
      compressor->compress(message.vector, layout, Random(1, Purpose::kTest), decoded, &code);
    }
    if (message.damage) message.damage(code);
    compress::append_header(message.header, body);
    append(body, std::span<const std::uint8_t>(code));
    return net::encode_frame(net::FrameType::kData,
                             message.uncompressed ? net::kUncompressedFlag : 0, message.number,
                             body);
  }
  void receive(const Message& message) { receive(1, frame_with(message)); }

  std::optional<SentMessage> send(std::uint32_t peer, float weight = 0.25f) {
    return neighbours.send(peer, {.header = {.sender = 0, .weight = weight, .push_sum = 1},
                                  .code = std::make_shared<const Bytes>(Bytes{1, 2, 3}),
                                  .uncompressed = false});
  }

  /// The frames of a type that were sent since the last call.
  std::vector<std::pair<std::uint32_t, Bytes>> take_sent(net::FrameType type) {
    std::vector<std::pair<std::uint32_t, Bytes>> frames;
    for (const auto& [peer, bytes] : wire.sent) {
      if (net::decode_frame(bytes, neighbours.limits()).header.type == type) {
        frames.emplace_back(peer, bytes);
      }
    }
    wire.sent.clear();
    return frames;
  }
  /// The one ACK that was sent to peer 1.
  net::Ack take_ack() {
    const auto acks = take_sent(net::FrameType::kAck);
    EXPECT_EQ(acks.size(), 1u);
    if (acks.size() != 1) return {};
    EXPECT_EQ(acks[0].first, 1u);
    return net::decode_ack(net::decode_frame(acks[0].second, neighbours.limits()));
  }

  bool is_live(std::uint32_t peer) const {
    return neighbours.members(
        [&](const Members& members) { return members.is_live(peer, wire.time); });
  }

  FakeWire wire;
  Layout layout{3};
  std::unique_ptr<compress::Compressor> compressor =
      compress::make_compressor("topk:keep=0.7");  // two of three
  std::vector<std::string> log;
  Neighbours neighbours{{.peers = kFleet,
                         .self = 0,
                         .incarnation = kOwnLife,
                         .compressor = *compressor,
                         .layout = layout,
                         .buffers = 2,
                         .log = [this](const std::string& what) { log.push_back(what); }}};
};

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

/// The reason and number of a BYE; 0, 0: let in.
std::pair<int, std::uint64_t> verdict_of(const std::optional<net::Bye>& bye) {
  return bye ? std::pair(static_cast<int>(bye->reason), bye->number)
             : std::pair(0, std::uint64_t{0});
}
std::pair<int, std::uint64_t> bye_with(net::ByeReason reason, std::uint64_t number = 0) {
  return {static_cast<int>(reason), number};
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
  EXPECT_EQ(zero.neighbours.unacked(), 2u);
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
  EXPECT_EQ(zero.neighbours.unacked(), 0u);
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
  EXPECT_EQ(zero.neighbours.unacked(), 0u);
  const Neighbours::Mail mail = zero.neighbours.take();
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
