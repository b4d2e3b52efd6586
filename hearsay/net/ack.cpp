#include "hearsay/net/ack.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::net {

Bytes encode_frame(const Ack& ack) {
  Bytes body;
  append(body, ack.seen);
  append(body, ack.refused);
  return encode_frame(FrameType::kAck, 0, ack.highest, body);
}

Ack decode_ack(const Frame& frame) {
  if (frame.body.size() != kAckBytes) {
    throw CorruptData(fmt::format("[ack] {} bytes; it has {}", frame.body.size(), kAckBytes));
  }
  ByteReader in(frame.body, "ack");
  Ack ack;
  ack.highest = frame.header.number;
  ack.seen = in.read<std::uint64_t>();
  ack.refused = in.read<std::uint64_t>();
  return ack;
}

}  // namespace hearsay::net
