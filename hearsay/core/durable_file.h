#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "hearsay/core/bytes.h"

namespace hearsay {

/// A file that appears whole or not at all: written as PATH.tmp, synced, then renamed to PATH, and
/// the directory synced. Errors throw RunFailed with the path and the system's reason.
class DurableFile {
 public:
  /// Who writes to a path at a time: one process (the next one takes what a killed one has left of
  /// PATH.tmp), or several, as PATH.PID.tmp; then the last one to commit has it.
  enum class Writers { kOne, kSeveral };

  explicit DurableFile(std::filesystem::path path, Writers writers = Writers::kOne);
  ~DurableFile();  ///< removes the temporary if commit was not reached
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

/// Write a file that nobody else has: it appears whole, or not at all. Returns false, and leaves
/// the file as it is, if there is one; of several processes that try, one gets true. `before` is
/// called with the whole file while it still has another name. Throws RunFailed.
bool write_new_file(const std::filesystem::path& path, std::string_view text,
                    const std::function<void(const std::filesystem::path&)>& before = {});

/// Write a file that a user named, and that may be anything: what is a regular file, or none yet,
/// appears whole or not at all, with the permissions that it had; a symbolic link stays, and its
/// target is written; pipes, devices and the standard streams (/dev/stdout) are written to as they
/// are. Touches no other file of the user's. Throws RunFailed.
void write_user_file(const std::filesystem::path& path, std::string_view text);

/// Force what was written to a file onto the disk. Throws RunFailed.
void sync_file(const std::filesystem::path& path);

/// The whole of a file. Throws RunFailed if it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Whether a file is there that another process has made, maybe on another host: a network file
/// system may take a moment to show it, and is given some seconds.
bool appears(const std::filesystem::path& path);

}  // namespace hearsay
