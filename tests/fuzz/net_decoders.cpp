#include "fuzz/net_decoders.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "hearsay/core/error.h"
#include "hearsay/net/ack.h"
#include "hearsay/net/bye.h"
#include "hearsay/net/fleet.h"
#include "hearsay/net/frame.h"
#include "hearsay/net/hello.h"
#include "hearsay/net/model_piece.h"
#include "hearsay/net/record.h"

namespace hearsay::fuzz {

namespace {

constexpr net::FrameLimits kLimits{.longest_data = 1000, .peers = 16};

void check(bool right, const char* what) {
  if (!right) throw std::logic_error(what);
}

/// The frame again, from its parts.
Bytes encoded_again(const net::Frame& frame) {
  using net::FrameType;
  switch (frame.header.type) {
    case FrameType::kHello:
      return net::encode_frame(net::decode_hello(frame.body));
    case FrameType::kPulse:
      return net::encode_frame(net::decode_records(frame.body));
    case FrameType::kAck:
      return net::encode_frame(net::decode_ack(frame));
    case FrameType::kModel:
      if (frame.body.size() > net::kMostPieceBytes) break;  // valid, but nobody sends it
      return net::encode_frame(net::decode_model_piece(frame));
    case FrameType::kBye:
      return net::encode_frame(net::decode_bye(frame.body), frame.header.number);
    default:
      break;
  }
  return net::encode_frame(frame.header.type, frame.header.flags, frame.header.number, frame.body);
}

/// The frames of a stream up to the first error, and whether there was one.
struct Read {
  std::vector<Bytes> frames;
  bool broken = false;
  bool operator==(const Read&) const = default;
};

Read read_in_pieces(ByteView stream, std::size_t piece) {
  Read read;
  net::FrameReader reader(kLimits);
  try {
    while (!stream.empty()) {
      const ByteView front = stream.first(std::min(piece, stream.size()));
      stream = stream.subspan(front.size());
      reader.feed(front);
      while (const auto frame = reader.next()) {
        read.frames.push_back(encoded_again(*frame));
        check(net::decode_frame(read.frames.back(), kLimits).header == frame->header,
              "a frame that is not its encoding");
        check(std::ranges::equal(ByteView(read.frames.back()).subspan(net::kFrameHeaderBytes),
                                 frame->body),
              "a body that is not its encoding");
      }
    }
  } catch (const CorruptData&) {
    read.broken = true;
  }
  return read;
}

/// A fleet file that says the same.
std::string written_out(const net::Fleet& fleet) {
  std::string text;
  for (const net::FleetPeer& peer : fleet.peers) text += net::to_toml(peer);
  return text + "[train]\n" + fleet.train;
}

/// The settings, wherever they stood in their file.
std::string without_empty_lines(const std::string& settings) {
  std::string text;
  for (const char c : settings) {
    if (c != '\n' || (!text.empty() && text.back() != '\n')) text += c;
  }
  return text;
}

}  // namespace

bool decode_frames(ByteView bytes) {
  if (bytes.empty()) return false;
  const ByteView stream = bytes.subspan(1);
  const Read read = read_in_pieces(stream, std::size_t{bytes[0]} + 1);
  check(read == read_in_pieces(stream, std::max<std::size_t>(stream.size(), 1)),
        "frames that depend on how they arrive");
  return !read.broken && !read.frames.empty();
}

bool decode_hello(ByteView bytes) {
  try {
    Bytes again;
    net::encode(net::decode_hello(bytes), again);
    check(std::ranges::equal(again, bytes), "a HELLO that is not its encoding");
    return true;
  } catch (const CorruptData&) {
    return false;
  }
}

bool decode_records(ByteView bytes) {
  try {
    const std::vector<net::Record> records = net::decode_records(bytes);
    for (const net::Record& record : records) {
      check(std::isfinite(record.rate) && std::isfinite(record.u), "a weight that is not finite");
    }
    Bytes again;
    net::encode(records, again);
    check(std::ranges::equal(again, bytes), "a PULSE that is not its encoding");
    return true;
  } catch (const CorruptData&) {
    return false;
  }
}

bool read_fleet(ByteView bytes) {
  net::Fleet fleet;
  try {
    fleet = net::parse_fleet({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "a");
  } catch (const InvalidArgument&) {
    return false;
  }
  try {
    const net::Fleet again = net::parse_fleet(written_out(fleet), "again");
    check(again.peers == fleet.peers, "peers that are not what is written out");
    check(without_empty_lines(again.train) == without_empty_lines(fleet.train),
          "settings that are not what is written out");
  } catch (const InvalidArgument& error) {
    throw std::logic_error(error.what());
  }
  for (const net::FleetPeer& peer : fleet.peers) {
    check(peer == fleet.peers.at(fleet.slot_of(peer.id).value()), "two peers with one id");
  }
  return true;
}

}  // namespace hearsay::fuzz
