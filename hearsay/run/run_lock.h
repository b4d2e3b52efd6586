#pragma once

#include <filesystem>

namespace hearsay::run {

/// Prevents others from resuming a run while this process trains it: an advisory lock on its
/// config.toml (flock), which is released when the process ends, however that happens. Without
/// effect on file systems that do not support such locks.
class RunLock {
 public:
  RunLock() = default;
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// `config`: the file, possibly before its final rename, so that it is never visible unlocked.
  /// Throws InvalidArgument if another process trains there.
  void take(const std::filesystem::path& config);

 private:
  int descriptor_ = -1;
};

/// Whether some process is training in `run` now.
bool is_being_trained(const std::filesystem::path& run);

}  // namespace hearsay::run
