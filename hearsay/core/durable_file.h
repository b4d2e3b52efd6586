#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "hearsay/core/bytes.h"

namespace hearsay {

/// A file written atomically: as PATH.tmp, synced, then renamed to PATH, and the directory synced.
/// Errors throw RunFailed with the path and the system's reason.
class DurableFile {
 public:
  /// Concurrent writers of a path: one process (which overwrites the PATH.tmp that a killed one
  /// left behind), or several, each to PATH.PID.tmp; then the last one to commit wins.
  enum class Writers { kOne, kSeveral };

  explicit DurableFile(std::filesystem::path path, Writers writers = Writers::kOne);
  ~DurableFile();  ///< removes the temporary file if commit was not reached
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

/// Create a file atomically and exclusively. Returns false, and leaves the file as it is, if it
/// exists; of several processes that try, exactly one gets true. `before` is called with the
/// temporary path of the complete file, before it gets its name. Throws RunFailed.
bool write_new_file(const std::filesystem::path& path, std::string_view text,
                    const std::function<void(const std::filesystem::path&)>& before = {});

/// Write to a path given by the user, which may be of any type: a regular or new file is written
/// atomically and keeps its permissions; a symbolic link stays, and its target is written; pipes,
/// devices and the standard streams (/dev/stdout) are written to directly. Touches no other file of
/// the user. Throws RunFailed.
void write_user_file(const std::filesystem::path& path, std::string_view text);

/// fsync a file. Throws RunFailed.
void sync_file(const std::filesystem::path& path);

/// The contents of a regular file (input_file.h). Throws RunFailed if it cannot be read, and
/// CorruptData if it has more than `most` bytes.
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t most = std::uint64_t{1} << 30);

/// Whether a file exists that another process, maybe on another host, has made. Waits some seconds
/// for it, as a network file system may show it late.
bool appears(const std::filesystem::path& path);

}  // namespace hearsay
