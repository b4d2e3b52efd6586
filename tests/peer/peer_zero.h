#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "hearsay/net/ack.h"
#include "hearsay/net/bye.h"
#include "hearsay/net/record.h"
#include "hearsay/peer/neighbours.h"
#include "peer/fake_wire.h"

namespace hearsay::peer {

inline constexpr std::array<std::byte, 32> kRun{std::byte{7}};
inline constexpr std::uint32_t kFleet = 4;
inline constexpr std::uint64_t kOwnLife = 100, kLife = 200;  ///< of peer 0, and of each other

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

/// The reason and number of a BYE; 0, 0: let in.
inline std::pair<int, std::uint64_t> verdict_of(const std::optional<net::Bye>& bye) {
  return bye ? std::pair(static_cast<int>(bye->reason), bye->number)
             : std::pair(0, std::uint64_t{0});
}
inline std::pair<int, std::uint64_t> bye_with(net::ByeReason reason, std::uint64_t number = 0) {
  return {static_cast<int>(reason), number};
}

}  // namespace hearsay::peer
