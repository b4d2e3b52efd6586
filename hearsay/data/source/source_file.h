#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "hearsay/core/bytes.h"

namespace hearsay::data {

/// A file of a dataset, with the format of its errors: "[mnist] PATH <what is wrong>; <source>".
struct SourceFile {
  std::string_view dataset;
  std::filesystem::path path;
  std::string_view source = {};  ///< where it is published; empty for a user's own

  /// All its bytes. Throws InvalidArgument if it cannot be read.
  Bytes read() const;

  /// The same in two steps, for large files: open it and get its `size` in bytes, then fill `out`
  /// with the next bytes.
  std::ifstream open(std::size_t& size) const;
  void read_next(std::ifstream& in, std::span<std::uint8_t> out) const;

  /// Throws InvalidArgument: the file is missing or unusable, or it is text that its user wrote,
  /// with a mistake in it.
  [[noreturn]] void refuse(std::string_view what) const;
  /// Throws CorruptData: the content, which a program wrote, is not what was expected.
  [[noreturn]] void corrupt(std::string_view what) const;
};

enum class Wrapping { kGzip, kRaw };

/// The first bytes of what `in` decompresses to: `count`, or fewer if there are no more or if it is
/// damaged there. To learn from a header how much there must be.
Bytes inflate_beginning(ByteView in, Wrapping wrapping, std::size_t count);

/// Decompresses `in`. Throws CorruptData, naming `file`, if it is not deflated data, if anything
/// follows it or if it expands to more than `most` bytes. Allocates in proportion to what the data
/// really expands to.
Bytes inflate(ByteView in, Wrapping wrapping, const SourceFile& file,
              std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace hearsay::data
