#pragma once

#include <string>

#include "hearsay/data/source/source_file.h"

namespace hearsay::data {

/// A decoded picture: red, green, blue of each pixel, row by row.
struct Picture {
  std::size_t height = 0;
  std::size_t width = 0;
  Bytes rgb;
};

/// Decodes a JPEG or PNG file, distinguished by its first bytes. Grey becomes three equal channels;
/// transparency is dropped. Throws InvalidArgument or CorruptData, naming the file; pictures of
/// more than 2^26 pixels are rejected.
Picture read_picture(const SourceFile& file);

inline constexpr std::size_t kMostPixels = std::size_t{1} << 26;

// The decoders. Each returns an error message, or "".
std::string decode_jpeg(ByteView bytes, Picture& picture);
std::string decode_png(ByteView bytes, Picture& picture);

}  // namespace hearsay::data
