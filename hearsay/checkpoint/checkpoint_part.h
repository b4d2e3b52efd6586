#pragma once

#include <filesystem>
#include <fstream>

#include "hearsay/backend/state.h"
#include "hearsay/checkpoint/checkpoint_manifest.h"

namespace hearsay::checkpoint {

/// Write the rows of the peers of one process, synced and in place when this returns: "HSCKPT02",
/// then for every item of the list that is not a scalar its rows, the peers ascending. What the
/// items are, and the digest that this returns, stand in the manifest. Throws RunFailed.
Digest write_part(const std::filesystem::path& path, const backend::StateList& list,
                  backend::Kernels& kernels);

/// Whether a list that has one row for each of `own` has room for rows of these peers: its own, or
/// replicas.
bool has_room_for(const backend::StateList& list, PeerRange own, PeerRange peers);

/// A part whose bytes are those that were saved.
class PartReader {
 public:
  /// Reads all of it once. Throws CorruptData, and names the file, if it is missing or another.
  PartReader(std::filesystem::path path, const Manifest::Part& part);

  /// Copy what the list has room for, own rows and replicas. The list has the part's items, and one
  /// row for each of `own`. Throws CorruptData if the file can no longer be read.
  void restore(const backend::StateList& list, PeerRange own, backend::Kernels& kernels);

  /// The `size` bytes from `at` on.
  void read(std::uint64_t at, void* data, std::size_t size);

 private:
  [[noreturn]] void reject(std::string_view why) const;
  Digest digest();

  std::filesystem::path path_;
  PeerRange peers_;
  std::ifstream in_;
};

}  // namespace hearsay::checkpoint
