#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/backend/state.h"
#include "hearsay/core/bytes.h"

namespace hearsay::checkpoint {

using Digest = std::array<std::uint8_t, 32>;  ///< SHA-256

/// Peers that follow each other.
struct PeerRange {
  std::size_t first = 0;
  std::size_t count = 0;

  std::size_t end() const { return first + count; }
  bool holds(std::size_t peer) const { return peer >= first && peer < end(); }
};

/// One checkpoint without the rows: whose it is, what state it holds, and the files with the rows,
/// each of the peers of one process. A file of its own, little-endian:
///
///   "HSCKMF02"
///   text       owner (texts: u64 length, then bytes)
///   u64        round, peers, take
///   u64        number of items, then each: text name, u8 kind, u64 value
///   u64        number of parts, then each: u64 peers, 32 bytes SHA-256 of the part
///   32 bytes   SHA-256 of all before
struct Manifest {
  enum class Kind : std::uint8_t { kRows, kDoubles, kCounts, kCount, kReal };

  /// One item of a StateList.
  struct Item {
    std::string name;
    Kind kind = Kind::kRows;
    std::uint64_t value = 0;  ///< values a peer, 0 if absent; of a scalar: its own bits
  };
  struct Part {
    PeerRange peers;
    Digest digest{};
  };

  std::string owner;  ///< hashes of the run's settings and files
  std::uint64_t round = 0;
  std::uint64_t take = 0;  ///< more than 0 if the round was saved before, under other names
  std::vector<Item> items;
  std::vector<Part> parts;  ///< of all peers, ascending

  std::size_t peers() const { return parts.empty() ? 0 : parts.back().peers.end(); }
  std::string name() const;                       ///< round-000000000123.ckpt
  std::string part_name(std::size_t part) const;  ///< round-000000000123.p0002of0004.part
};

Bytes to_bytes(const Manifest& manifest);

/// Throws CorruptData, and names `path`, if the bytes are no manifest or are damaged.
Manifest read_manifest(ByteView bytes, std::string_view path);

/// What a list holds, scalars with their values.
std::vector<Manifest::Item> items_of(const backend::StateList& list);

/// Throws CorruptData, and names `path`, if the items are not those of the list: others, or of
/// another kind or shape.
void check_items(const Manifest& manifest, const backend::StateList& list, std::string_view path);

/// Give the list's scalars the values of the items, which were checked.
void restore_scalars(const Manifest& manifest, const backend::StateList& list);

}  // namespace hearsay::checkpoint
