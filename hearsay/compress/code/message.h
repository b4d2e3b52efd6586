#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/core/bytes.h"

namespace hearsay::compress {

/// The kind of payload after a header. Some methods send two vectors per round, as two messages.
enum class MessageKind : std::uint8_t {
  kModel = 1,      ///< the vector that is mixed: models, differences or error-compensated models
  kAuxiliary = 2,  ///< the second one: momenta, gradient trackers
};

/// The header before the compressor's code in every gossip message, sent over one directed edge.
///
/// Layout, little-endian (docs/wire_format.md): version u8, kind u8, checksum u16 over the other 22
/// bytes, sender u32, round u32, weight f32, push-sum weight f64.
struct MessageHeader {
  MessageKind kind = MessageKind::kModel;
  std::uint32_t sender = 0;
  std::uint32_t round = 0;
  float weight = 0;     ///< a of this edge: the receiver adds a q, the sender subtracts it
  double push_sum = 1;  ///< the sender's push-sum weight u

  bool operator==(const MessageHeader&) const = default;
};

inline constexpr std::uint8_t kMessageVersion = 1;
inline constexpr std::size_t kHeaderBytes = 24;

/// Append kHeaderBytes bytes.
void append_header(const MessageHeader& header, Bytes& out);

/// Throws CorruptData on too few bytes, another version, an unknown kind, a wrong checksum, and on
/// weights that are not positive and finite.
MessageHeader read_header(ByteReader& in);

}  // namespace hearsay::compress
