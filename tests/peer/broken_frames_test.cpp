// Frames of a neighbour that are broken in thirteen ways, a thousand times each, in pieces of any
// size: each closes the connection or is refused, and what came before it counts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <ostream>
#include <string>

#include "hearsay/core/error.h"
#include "hearsay/net/frame.h"
#include "hearsay/net/model_piece.h"
#include "peer/peer_zero.h"

namespace hearsay::peer {
namespace {

using net::FrameType;

/// Any but that one.
std::uint8_t other_byte(std::uint8_t than, Random& random) {
  return static_cast<std::uint8_t>(than + 1 + random.below(255));
}

Bytes noise(std::size_t size, Random& random) {
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
  return bytes;
}

float not_a_weight(Random& random) {
  constexpr std::array kBad{0.0f, -0.5f, 1.001f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()};
  return kBad[random.below(kBad.size())];
}

float not_finite(Random& random) {
  constexpr std::array kBad{std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()};
  return kBad[random.below(kBad.size())];
}

bool coin(Random& random) { return random.below(2) == 1; }

/// A message as peer 1 may send it, with any entries and amounts.
PeerZero::Message any_message(Random& random) {
  PeerZero::Message message;
  message.number = 2 + random.below(60);
  message.header.weight = static_cast<float>(1 - random.uniform());
  message.header.push_sum = 1 - random.uniform();
  message.uncompressed = coin(random);
  for (float& entry : message.vector) entry = static_cast<float>(random.normal());
  return message;
}

struct Way {
  const char* name;
  std::function<Bytes(const PeerZero&, Random&)> frame;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

Bytes changed(Bytes frame, std::size_t at, std::uint8_t byte) {
  frame.at(at) = byte;
  return frame;
}

Bytes with_length(Bytes frame, std::uint32_t length) {
  Bytes claimed;
  append(claimed, length);
  std::ranges::copy(claimed, frame.begin());
  return frame;
}

std::vector<Way> ways() {
  return {
      {"AnotherVersion",
       [](const PeerZero& zero, Random& random) {
         return changed(zero.frame_with(any_message(random)), 4,
                        other_byte(net::kFrameVersion, random));
       }},
      {"AnUnknownType",
       [](const PeerZero& zero, Random& random) {
         return changed(zero.frame_with(any_message(random)), 5,
                        static_cast<std::uint8_t>(8 + random.below(249)) % 256);
       }},
      {"AnUnknownFlag",
       [](const PeerZero& zero, Random& random) {
         return changed(zero.frame_with(any_message(random)), 6 + random.below(2),
                        static_cast<std::uint8_t>(2 + random.below(254)));
       }},
      {"ANumberWhereThereIsNone",
       [](const PeerZero&, Random& random) {
         const Bytes pulse = net::encode_frame(FrameType::kPulse, 0, 1 + random.below(1u << 30),
                                               Bytes(net::kRecordBytes));
         return pulse;
       }},
      {"ABodyLongerThanAnyOfItsType",
       [](const PeerZero& zero, Random& random) {
         const std::size_t most = zero.neighbours.limits().longest_data;
         const auto length = static_cast<std::uint32_t>(
             most + 1 + random.below(std::numeric_limits<std::uint32_t>::max() - most - 1));
         return with_length(zero.frame_with(any_message(random)), length);
       }},
      {"ABodyOfAnotherSize",
       [](const PeerZero&, Random& random) {
         const std::size_t size = net::kAckBytes + 1 + random.below(30);
         return net::encode_frame(FrameType::kAck, 0, 0, noise(size, random));
       }},
      {"ANumberBeyondTheWindow",
       [](const PeerZero& zero, Random& random) {
         PeerZero::Message message = any_message(random);
         message.number = 2 + Edge::kWindow + (random.below(1ull << 62) >> random.below(50));
         return zero.frame_with(message);
       }},
      {"AnAckOfWhatWasNeverSent",
       [](const PeerZero&, Random& random) {
         return net::encode_frame(
             net::Ack{.highest = 1 + (random.below(1ull << 62) >> random.below(50)),
                      .seen = 1,
                      .refused = 0});
       }},
      {"AnotherSender",
       [](const PeerZero& zero, Random& random) {
         PeerZero::Message message = any_message(random);
         message.header.sender = static_cast<std::uint32_t>(2 + random.below(1u << 31));
         return zero.frame_with(message);
       }},
      {"AmountsOutOfRange",
       [](const PeerZero& zero, Random& random) {
         PeerZero::Message message = any_message(random);
         if (coin(random)) {
           message.header.weight = not_a_weight(random);
         } else {
           const float bad = not_a_weight(random);  // 1.001 is none of u
           message.header.push_sum = bad > 1 ? 4 * kFleet + 1 + 1e6 * random.uniform() : bad;
         }
         return zero.frame_with(message);
       }},
      {"EntriesThatAreNotFinite",
       [](const PeerZero& zero, Random& random) {
         PeerZero::Message message = any_message(random);
         message.vector[random.below(3)] = not_finite(random);
         return zero.frame_with(message);
       }},
      {"ACodeThatDoesNotDecode",
       [](const PeerZero& zero, Random& random) {
         PeerZero::Message message = any_message(random);
         message.uncompressed = false;
         message.damage = [&](Bytes& code) {
           if (coin(random)) {
             code.resize(random.below(code.size()));
           } else {
             append(code, ByteView(noise(1 + random.below(4), random)));
           }
         };
         return zero.frame_with(message);
       }},
      {"AModelNobodyAskedFor",
       [](const PeerZero&, Random& random) {
         const Bytes piece = noise(1 + random.below(20), random);
         return net::encode_frame(
             net::ModelPiece{.total = 1 + piece.size(), .offset = 0, .bytes = piece, .digest = {}});
       }},
  };
}

std::string name_of_way(const ::testing::TestParamInfo<Way>& info) { return info.param.name; }

class BrokenFramesOfANeighbour : public ::testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(All, BrokenFramesOfANeighbour, ::testing::ValuesIn(ways()), name_of_way);

/// tests/soak.sh sets HEARSAY_BROKEN_FRAMES to 10,000.
TEST_P(BrokenFramesOfANeighbour, CloseItsConnectionOrAreRefused) {
  const char* text = std::getenv("HEARSAY_BROKEN_FRAMES");
  const int times = text == nullptr ? 1000 : std::atoi(text);
  for (int k = 0; k < times; ++k) {
    Random random(static_cast<std::uint64_t>(k), Purpose::kTest);
    PeerZero zero;
    zero.connect(1);
    Bytes stream = zero.frame_with({.number = 1});  // the control: this one counts
    append(stream, ByteView(GetParam().frame(zero, random)));
    net::FrameReader reader(zero.neighbours.limits());
    bool closed = false;
    try {
      for (ByteView left = stream; !left.empty();) {
        const std::size_t size = std::min<std::size_t>(left.size(), 1 + random.below(40));
        reader.feed(left.first(size));
        left = left.subspan(size);
        while (const auto frame = reader.next()) zero.neighbours.frame(1, *frame);
      }
    } catch (const CorruptData& error) {
      ASSERT_EQ(error.what()[0], '[') << error.what();
      closed = true;
    }
    const Neighbours::Mail mail = zero.neighbours.take();
    ASSERT_EQ(mail.arrived.size(), 1u) << "frame " << k;
    ASSERT_EQ(mail.arrived[0].number, 1u);
    if (closed) continue;
    ASSERT_NE(zero.take_ack().refused, 0u) << "frame " << k;
  }
}

}  // namespace
}  // namespace hearsay::peer
