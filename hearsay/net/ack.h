#pragma once

#include <cstdint>

#include "hearsay/core/bytes.h"
#include "hearsay/net/frame.h"

namespace hearsay::net {

/// What a receiver has done with the messages of one edge. On the wire `highest` is the frame's
/// number, and the body is `seen` and `refused`, u64 each, little-endian.
struct Ack {
  std::uint64_t highest = 0;  ///< number
  std::uint64_t seen = 0;     ///< bit k: highest - k was applied or refused
  std::uint64_t refused = 0;  ///< bit k: highest - k was refused

  bool operator==(const Ack&) const = default;
};

/// The frame.
Bytes encode_frame(const Ack& ack);

/// Throws CorruptData on a body of another length. `frame` is an ACK.
Ack decode_ack(const Frame& frame);

}  // namespace hearsay::net
