#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/core/bytes.h"

namespace hearsay::net {

enum class Status : std::uint8_t {
  kEntering = 1,  ///< has no model yet; nobody sends it messages
  kTraining,
  kFinished,  ///< at the end of its training; it mixes on until all are
  kLeaving,   ///< sends nothing more, and waits for acks
  kLeft,
};

/// What the fleet knows of one peer; PULSE frames carry records, and every peer passes them on. Of
/// two records of a peer the one with the larger (incarnation, beat) is the newer.
///
/// Layout, kRecordBytes bytes, little-endian: slot u32; status u8; 0 u8, 0 u16; incarnation, beat,
/// rounds u64; rate, clock, u, loss, accuracy f32; bytes u64.
struct Record {
  std::uint32_t slot = 0;  ///< the peer's place in the fleet file, from 0
  Status status = Status::kTraining;
  std::uint64_t incarnation = 0;
  std::uint64_t beat = 0;  ///< raised by the peer itself, twice a second
  std::uint64_t rounds = 0;
  float rate = 0;           ///< rounds per second
  float clock = 0;          ///< the fleet's, in rounds, by this peer's reckoning
  float u = 0;              ///< push-sum weight
  float loss = 0;           ///< as `accuracy`, only shown: any value, NaN if there is none
  float accuracy = 0;       ///< of its last evaluation
  std::uint64_t bytes = 0;  ///< sent since it started

  bool operator==(const Record&) const = default;
};

/// Append the body of a PULSE: 1 to kMostRecords records.
void encode(std::span<const Record> records, Bytes& out);

/// The frame.
Bytes encode_frame(std::span<const Record> records);

/// Throws CorruptData on another number of bytes, a slot that no fleet has, an unknown status,
/// incarnation 0, and a rate, clock or weight that is negative or not finite.
std::vector<Record> decode_records(ByteView body);

}  // namespace hearsay::net
