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

/// Exact snapshots of a run, in a directory that all its processes see; the newest two are kept.
///
///   round-000000000123.p0002of0004.part   the rows of process 2 (checkpoint_part.h)
///   round-000000000123.ckpt               the manifest (checkpoint_manifest.h)
///
/// A checkpoint is there once its manifest is. That is written by process 0 when all parts are on
/// the disk, and nothing that a manifest names is written over, so a crash of any process at any
/// moment leaves the earlier ones whole. Any number of processes can go on from it: each reads
/// those parts that hold rows of its own peers or replicas.
///
/// All processes call the same members in the same order; all of them return alike, or throw alike.
class CheckpointStore {
 public:
  /// `files_hash`: of what the settings name but do not hold, such as the samples of a dataset. The
  /// process group must outlive the store.
  CheckpointStore(std::filesystem::path directory, std::string config_hash, std::string files_hash,
                  gossip::ProcessGroup& group, const transport::Placement& placement);

  /// Save every item of `list` as the state after `round` rounds; scalars are those of process 0.
  /// Throws RunFailed (one disk is full, say), and then leaves the earlier checkpoints as they
  /// were.
  void save(std::uint64_t round, const backend::StateList& list, backend::Kernels& kernels);

  /// Called with the round of a checkpoint before anything is restored from it, to make room: for
  /// the replicas of that round. Possibly for several, one after the other.
  using Prepare = std::function<void(std::uint64_t round)>;

  /// Restore the newest checkpoint that is whole; returns its round, or nothing if there is none at
  /// all. Damaged ones, those with a missing part among them, are passed over and named in
  /// `damaged`. Throws CorruptData if all are damaged, or if one is whole but of another config,
  /// other files or another shape; RunFailed if a process does not see the directory.
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

/// Whether a directory holds any checkpoint; damaged ones count.
bool has_checkpoints(const std::filesystem::path& directory);

}  // namespace hearsay::checkpoint
