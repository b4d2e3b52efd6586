#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hearsay/core/bytes.h"

namespace hearsay::net {

/// The first frame of both sides of a connection: who the sender is, and where it stands on the two
/// edges between them.
///
/// Layout, kHelloBytes bytes, little-endian: run 32 bytes; incarnation, known, rounds, next,
/// highest, arrived, refused u64 each; slot u32; port u16; 0 u16.
struct Hello {
  std::array<std::byte, 32> run{};  ///< SHA-256 of what peers of a run must agree on
  std::uint64_t incarnation = 0;    ///< of the sender
  std::uint64_t known = 0;          ///< the receiver's incarnation as the sender knows it; 0: none
  std::uint64_t rounds = 0;         ///< that the sender has trained
  std::uint64_t next = 0;           ///< number of the sender's next message
  std::uint64_t highest = 0;        ///< of the receiver's messages, the highest that arrived
  std::uint64_t arrived = 0;        ///< bit k: highest - k arrived
  std::uint64_t refused = 0;        ///< bit k: highest - k was refused
  std::uint32_t slot = 0;           ///< the sender's place in the fleet file, from 0
  std::uint16_t port = 0;           ///< where the sender listens; 0: nowhere

  bool operator==(const Hello&) const = default;
};

/// Append the body of a HELLO.
void encode(const Hello& hello, Bytes& out);

/// The frame.
Bytes encode_frame(const Hello& hello);

/// Throws CorruptData on another number of bytes, a slot that no fleet has, and incarnation 0.
Hello decode_hello(ByteView body);

}  // namespace hearsay::net
