#pragma once

#include <filesystem>

namespace hearsay::run {

/// Keeps others from going on with a run while this process trains it: an advisory lock of its
/// config.toml (flock), which ends with the process, however that ends. On file systems that have
/// no such locks nobody is kept from anything.
class RunLock {
 public:
  RunLock() = default;
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// `config`: the file, also before it has its name: who sees it then sees it locked. Throws
  /// InvalidArgument if another process trains there.
  void take(const std::filesystem::path& config);

 private:
  int descriptor_ = -1;
};

/// Whether some process trains in `run` just now.
bool is_being_trained(const std::filesystem::path& run);

}  // namespace hearsay::run
