#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hearsay/backend/state.h"
#include "hearsay/checkpoint/checkpoint_manifest.h"
#include "hearsay/gossip/process_group.h"
#include "hearsay/transport/placement.h"

namespace hearsay::checkpoint {

/// Exact snapshots of a run, in a directory visible to all its processes; the newest two are kept.
///
///   round-000000000123.p0002of0004.part   the rows of rank 2 (checkpoint_part.h)
///   round-000000000123.ckpt               the manifest (checkpoint_manifest.h)
///
/// A checkpoint exists once its manifest does. Rank 0 writes the manifest when all parts are on
/// disk, and files named by a manifest are never overwritten, so a crash of any process at any
/// moment leaves earlier checkpoints intact. Any number of processes can resume from it: each reads
/// the parts that hold rows of its own peers or replicas.
///
/// All processes call the same members in the same order; all of them return the same result, or
/// all throw.
class CheckpointStore {
 public:
  /// `files_hash`: hash of files that the settings refer to, such as the samples of a dataset. The
  /// process group must outlive the store.
  CheckpointStore(std::filesystem::path directory, std::string config_hash, std::string files_hash,
                  gossip::ProcessGroup& group, const transport::Placement& placement);

  /// Save every item of `list` as the state after `round` rounds; scalars are those of rank 0.
  /// Throws RunFailed (a full disk, say), leaving the earlier checkpoints unchanged.
  void save(std::uint64_t round, const backend::StateList& list, backend::Kernels& kernels);

  /// Called with the round of a checkpoint before anything is restored from it, to allocate the
  /// replicas of that round. May be called for several checkpoints, one after another.
  using Prepare = std::function<void(std::uint64_t round)>;

  /// Restore the newest intact checkpoint; returns its round, or nullopt if there are no
  /// checkpoints. Damaged ones, including those with a missing part, are skipped and listed in
  /// `damaged`. Throws CorruptData if all are damaged, or if an intact one has another config,
  /// other files or another shape; RunFailed if a process cannot see the directory.
  std::optional<std::uint64_t> restore_newest(const backend::StateList& list,
                                              backend::Kernels& kernels, const Prepare& prepare,
                                              std::vector<std::string>& damaged);

 private:
  std::uint64_t make_room(Manifest manifest) const;
  void commit(Manifest& manifest, const std::vector<Bytes>& digests) const;
  void remove_parts(const Manifest& manifest) const;
  void remove_old(const Manifest& newest) const;
  bool restore(const Manifest& manifest, const backend::StateList& list, backend::Kernels& kernels,
               const Prepare& prepare, std::vector<std::string>& damaged);
  void check_owner(const Manifest& manifest) const;
  void check_directory() const;
  std::string path_of(const std::string& name) const { return (directory_ / name).string(); }

  std::filesystem::path directory_;
  std::string config_hash_, files_hash_;
  gossip::ProcessGroup& group_;
  transport::Placement placement_;
};

/// Whether a directory holds any checkpoint, damaged or not.
bool has_checkpoints(const std::filesystem::path& directory);

}  // namespace hearsay::checkpoint
