#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hearsay::live {

/// Follows a file of lines that another process appends to, and sometimes truncates: a resumed run
/// removes what came after its checkpoint.
class Tail {
 public:
  struct Line {
    std::string text;       ///< without the newline; control characters are blanks
    std::uint64_t end = 0;  ///< where the next line begins: an offset to resume from
  };
  struct News {
    bool reset = false;  ///< earlier lines are invalid: the file was truncated or replaced
    std::vector<Line> lines;
  };

  static constexpr std::uint64_t kFirstBytes = 1 << 20;
  static constexpr std::size_t kBytesAtOnce = 256 << 10;  ///< longer lines are skipped

  /// Begins at byte `from`, the end of a line; any other offset is a reset. Without it, begins with
  /// the first line of the last kFirstBytes.
  Tail(std::filesystem::path file, std::optional<std::uint64_t> from);

  /// The complete lines since the last call, at most kBytesAtOnce bytes of them. A file that is
  /// missing, or cannot be read, has none.
  News poll();

  /// Whether the last call reached the end of the file.
  bool at_end() const { return at_end_; }

 private:
  std::filesystem::path file_;
  std::optional<std::uint64_t> offset_;  ///< once the file exists
  std::optional<std::uint64_t> wanted_;  ///< where to begin
  std::uint64_t inode_ = 0;
  bool skipping_ = false;  ///< within a line that is too long
  bool at_end_ = false;
};

}  // namespace hearsay::live
