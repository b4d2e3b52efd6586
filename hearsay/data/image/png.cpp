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

}  // namespace

std::string decode_png(ByteView bytes, Picture& picture) {
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
