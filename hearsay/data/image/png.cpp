#include <png.h>

#include <string_view>

#include <fmt/format.h>

#include "hearsay/data/image/image_file.h"

namespace hearsay::data {

namespace {

/// libpng's state, released by the destructor.
struct Decoder {
  Decoder() { image.version = PNG_IMAGE_VERSION; }
  ~Decoder() { png_image_free(&image); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  png_image image{};
};

/// Whether the file goes on to its last chunk. libpng needs it for no pixel and does not look.
bool has_end(ByteView bytes) {
  constexpr std::size_t kSignature = 8, kAround = 12;  // a chunk's length, name and checksum
  for (std::size_t at = kSignature; at <= bytes.size() && bytes.size() - at >= kAround;) {
    const std::size_t length = std::size_t{bytes[at]} << 24 | std::size_t{bytes[at + 1]} << 16 |
                               std::size_t{bytes[at + 2]} << 8 | std::size_t{bytes[at + 3]};
    const std::string_view name(reinterpret_cast<const char*>(bytes.data() + at + 4), 4);
    if (name == "IEND") return true;
    at += kAround + length;
  }
  return false;
}

}  // namespace

std::string decode_png(ByteView bytes, Picture& picture) {
  if (!has_end(bytes)) return "it is cut off";
  Decoder decoder;
  png_image& image = decoder.image;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    return image.message;
  }
  const std::size_t pixels = std::size_t{image.height} * image.width;
  if (pixels > kMostPixels) {
    return fmt::format("it has {} x {} pixels", image.height, image.width);
  }
  image.format = PNG_FORMAT_RGBA;  // RGB would blend transparent pixels with a background
  Bytes rgba(pixels * 4);
  if (png_image_finish_read(&image, nullptr, rgba.data(), 0, nullptr) == 0) return image.message;
  picture.height = image.height;
  picture.width = image.width;
  picture.rgb.resize(pixels * 3);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) picture.rgb[3 * i + c] = rgba[4 * i + c];
  }
  // Most warnings concern chunks that change no pixel (profiles, times); those of IDAT mean missing
  // pixels.
  const std::string_view warning = image.warning_or_error != 0 ? image.message : "";
  return warning.starts_with("IDAT") ? std::string(warning) : "";
}

}  // namespace hearsay::data
