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

/// A contiguous range of peers.
struct PeerRange {
  std::size_t first = 0;
  std::size_t count = 0;

  std::size_t end() const { return first + count; }
  bool holds(std::size_t peer) const { return peer >= first && peer < end(); }
};

/// The metadata of one checkpoint: owner, items of state, and the part files with the rows, one per
/// process that saved. File format, little-endian:
///
///   "HSCKMF03"
///   text       version of hearsay (texts: u64 length, then bytes)
///   text       owner
///   u64        round, peers, take
///   u64        number of items, then each: text name, u8 kind, u64 value
///   u64        number of parts, then each: u64 peers, 32 bytes SHA-256 of the part
///   32 bytes   SHA-256 of all preceding bytes
///
/// "HSCKMF02" is read too: the same without the version.
struct Manifest {
  enum class Kind : std::uint8_t { kRows, kDoubles, kCounts, kCount, kReal };

  /// One item of a StateList.
  struct Item {
    std::string name;
    Kind kind = Kind::kRows;
    std::uint64_t value = 0;  ///< values per peer, 0 if absent; of a scalar: its bits
  };
  struct Part {
    PeerRange peers;
    Digest digest{};
  };

  std::string version;  ///< of the hearsay that wrote it; empty: one that did not record it
  std::string owner;    ///< hashes of the run's settings and files
  std::uint64_t round = 0;
  std::uint64_t take = 0;  ///< greater than 0 if the round was saved before, under other file names
  std::vector<Item> items;
  std::vector<Part> parts;  ///< covering all peers, ascending

  std::size_t peers() const { return parts.empty() ? 0 : parts.back().peers.end(); }
  std::string name() const;                       ///< round-000000000123.ckpt
  std::string part_name(std::size_t part) const;  ///< round-000000000123.p0002of0004.part
};

Bytes to_bytes(const Manifest& manifest);  ///< in the newest format

/// Throws CorruptData, naming `path`, if the bytes are not a manifest or are damaged.
Manifest read_manifest(ByteView bytes, std::string_view path);

/// The items of a list, scalars with their values.
std::vector<Manifest::Item> items_of(const backend::StateList& list);

/// Throws CorruptData, naming `path` and the version that wrote it, if the manifest's items differ
/// from those of the list in name, kind or shape: for the same settings, because that version kept
/// other state.
void check_items(const Manifest& manifest, const backend::StateList& list, std::string_view path);

/// Set the list's scalars from the items, which must have passed check_items.
void restore_scalars(const Manifest& manifest, const backend::StateList& list);

}  // namespace hearsay::checkpoint
