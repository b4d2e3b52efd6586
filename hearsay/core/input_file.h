#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace hearsay {

/// A regular file that is open for reading. Every file that a user names, or that another process
/// may have put into a directory, is opened by this: a pipe or a device would block, or never end.
class InputFile {
 public:
  InputFile() = default;
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;

  /// Opens the file. Returns why it cannot be read, the system's reason or "it is no regular file",
  /// or "". At most one call.
  std::string open(const std::filesystem::path& path);

  std::uint64_t size() const { return size_; }  ///< bytes, when it was opened

  /// The next bytes: `most` of them, fewer only at the end of the file. Throws RunFailed if they
  /// cannot be read.
  std::size_t read(void* to, std::size_t most);

  /// The next read begins at this byte.
  void seek(std::uint64_t at) { at_ = at; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0, at_ = 0;
};

}  // namespace hearsay
