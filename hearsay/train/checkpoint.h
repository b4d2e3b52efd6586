#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hearsay/backend/state.h"

namespace hearsay::train {

/// Exact snapshots of a run: DIR/round-000000000123.ckpt, the newest two kept.
///
/// A file is written under another name, synced, and renamed into place, so a crash at any moment
/// leaves the earlier ones whole; its last 32 bytes are the SHA-256 of all before them.
/// Little-endian:
///
///   "HSCKPT01"
///   text        config hash and hash of files (texts: u64 length, then bytes), u64 round
///   u64         number of items, then each: text name, u8 kind, shape, values
///   32 bytes    SHA-256
class CheckpointStore {
 public:
  /// `files_hash`: of what the settings name but do not hold, such as the samples of a dataset.
  CheckpointStore(std::filesystem::path directory, std::string config_hash,
                  std::string files_hash = "");

  bool empty() const { return newest_first().empty(); }  ///< damaged ones count

  /// Save every item of `list` as the state after `round` rounds. Throws RunFailed (a full disk,
  /// say), and then leaves the earlier checkpoints as they were.
  void save(std::uint64_t round, const backend::StateList& list, backend::Kernels& kernels);

  /// Restore the newest checkpoint that is whole; returns its round, or nothing if there is none at
  /// all. Damaged ones are passed over and named in `damaged`. Throws CorruptData if all are
  /// damaged, or if one is whole but of another config, other files or another shape.
  std::optional<std::uint64_t> restore_newest(const backend::StateList& list,
                                              backend::Kernels& kernels,
                                              std::vector<std::string>& damaged);

 private:
  std::vector<std::filesystem::path> newest_first() const;

  std::filesystem::path directory_;
  std::string config_hash_, files_hash_;
};

}  // namespace hearsay::train
