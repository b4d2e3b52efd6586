#pragma once

#include <algorithm>
#include <cstring>

#include "hearsay/backend/cpu/int8/loops.h"
#include "hearsay/engine/cpu/tensor.h"
#include "hearsay/engine/quantize.h"

/// The tensors of a network in 8 bits, sample by sample.
namespace hearsay::engine::cpu::int8 {

using backend::cpu::Image;
using backend::cpu::ImageSize;

/// Channels of a pixel in memory.
inline std::size_t channels_of(const Tensor& t) { return t.tiles.padded_channels(); }
inline ImageSize size_of_sample(const Tensor& t) {
  return {t.shape.height, t.shape.width, channels_of(t)};
}

/// The codes of sample n, from the first byte of its border on.
inline std::int8_t* codes_of(const Tensor& t, std::size_t n) {
  return t.as<std::int8_t>() + n * t.grid().pixels() * channels_of(t);
}
/// Its pixels.
inline Image<std::int8_t> image_of(const Tensor& t, std::size_t n) {
  const Grid grid = t.grid();
  const std::size_t channels = channels_of(t);
  return {codes_of(t, n) + static_cast<std::size_t>(grid.at(0, 0)) * channels,
          grid.pitch() * channels};
}
inline Image<const std::int8_t> const_image_of(const Tensor& t, std::size_t n) {
  const Image<std::int8_t> image = image_of(t, n);
  return {image.data, image.pitch};
}

/// The gradient of sample n in `gradient`, that of a whole chunk.
inline Image<float> gradient_of(const Tensor& t, float* gradient, std::size_t n) {
  const ImageSize size = size_of_sample(t);
  return {gradient + n * size.size(), size.columns * size.channels};
}
template <class T>
Image<const T> constant(Image<T> image) {
  return {image.data, image.pitch};
}

/// Zeros around the image at `data`, whose pixels have that many bytes.
inline void clear_border(const Grid& grid, std::size_t bytes, std::int8_t* data) {
  if (grid.border == 0) return;
  const std::size_t pitch = grid.pitch() * bytes, before = grid.border * pitch;
  std::memset(data, 0, before);
  for (std::size_t y = 0; y < grid.height; ++y) {
    std::memset(data + before + y * pitch, 0, grid.border * bytes);
  }
  std::memset(data + before + grid.height * pitch, 0, before + grid.border * bytes);
}
inline void clear_border(const Tensor& t, std::size_t n) {
  clear_border(t.grid(), channels_of(t), codes_of(t, n));
}

/// max(q, 0).
inline void relu(const Tensor& t, std::size_t n) {
  const ImageSize size = size_of_sample(t);
  const Image<std::int8_t> q = image_of(t, n);
  for (std::size_t y = 0; y < size.rows; ++y) {
    std::int8_t* row = q.data + y * q.pitch;
    for (std::size_t i = 0; i < size.columns * size.channels; ++i) {
      row[i] = std::max<std::int8_t>(row[i], 0);
    }
  }
}
/// g = 0 where q <= 0.
inline void relu_backward(const Tensor& t, std::size_t n, Image<float> g) {
  const ImageSize size = size_of_sample(t);
  const Image<std::int8_t> q = image_of(t, n);
  for (std::size_t y = 0; y < size.rows; ++y) {
    const std::int8_t* row = q.data + y * q.pitch;
    float* out = g.data + y * g.pitch;
    for (std::size_t i = 0; i < size.columns * size.channels; ++i) {
      out[i] = row[i] > 0 ? out[i] : 0.0f;
    }
  }
}

/// Q8 of a sample's floats with magnitude m, then relu.
inline void store(Image<const float> x, float m, bool with_relu, const Tensor& y, std::size_t n) {
  backend::cpu::to_codes(x, size_of_sample(y), factor_of(m, kTop8), image_of(y, n));
  y.scales[n] = scale_of(m, 1, kTop8);
  clear_border(y, n);
  if (with_relu) relu(y, n);
}

/// Pieces of a step's scratch memory, one after another, aligned to cache lines. Without memory it
/// only counts.
class Pieces {
 public:
  explicit Pieces(std::byte* memory = nullptr) : memory_(memory) {}

  template <class T>
  T* take(std::size_t count) {
    T* piece = memory_ ? reinterpret_cast<T*>(memory_ + bytes_) : nullptr;
    bytes_ += (count * sizeof(T) + 63) / 64 * 64;
    return piece;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

inline std::size_t round_up(std::size_t x, std::size_t to) { return (x + to - 1) / to * to; }

}  // namespace hearsay::engine::cpu::int8
