#pragma once

#include <filesystem>

#include "hearsay/backend/state.h"
#include "hearsay/checkpoint/checkpoint_manifest.h"
#include "hearsay/core/input_file.h"

namespace hearsay::checkpoint {

/// Write the rows of the peers of one process, synced to disk under their final name on return:
/// "HSCKPT02", then for every non-scalar item of the list its rows, peers ascending. The manifest
/// describes the items and holds the returned digest. Throws RunFailed.
Digest write_part(const std::filesystem::path& path, const backend::StateList& list,
                  backend::Kernels& kernels);

/// Whether a list with one row for each of `own` stores rows of any of `peers`, as its own or as
/// replicas.
bool has_room_for(const backend::StateList& list, PeerRange own, PeerRange peers);

/// A part file whose digest has been verified.
class PartReader {
 public:
  /// Reads the whole file once. Throws CorruptData, naming the file, if it is missing, is no
  /// regular file or has another digest.
  PartReader(std::filesystem::path path, const Manifest::Part& part);

  /// Copy the rows that the list stores, own and replicas. The list must have the part's items, and
  /// one row for each of `own`. Throws CorruptData if the file can no longer be read.
  void restore(const backend::StateList& list, PeerRange own, backend::Kernels& kernels);

  /// The `size` bytes from `at` on.
  void read(std::uint64_t at, void* data, std::size_t size);

 private:
  [[noreturn]] void reject(std::string_view why) const;
  Digest digest();

  std::filesystem::path path_;
  PeerRange peers_;
  InputFile in_;
};

}  // namespace hearsay::checkpoint
