#pragma once

#include <cassert>
#include <cstddef>

#include "hearsay/backend/cpu/loops.h"
#include "hearsay/backend/cpu/tiles.h"
#include "hearsay/core/element_type.h"
#include "hearsay/model/operation.h"

namespace hearsay::engine::cpu {

/// Where the pixels of a sample are in memory: row by row, with `border` pixels of zeros above,
/// below and between rows (the right border of a row is the left one of the next), so that a tap of
/// a convolution is the same offset everywhere.
struct Grid {
  std::size_t height = 1, width = 1, border = 0;

  std::size_t pitch() const { return width + border; }
  std::size_t pixels() const { return (height + 2 * border) * pitch() + border; }
  /// The pixel of row y and column x, which may be in the border.
  std::ptrdiff_t at(std::ptrdiff_t y, std::ptrdiff_t x) const {
    const auto b = static_cast<std::ptrdiff_t>(border);
    return (y + b) * static_cast<std::ptrdiff_t>(pitch()) + x + b;
  }
};

/// A value of the network for one batch, and the gradient of the loss with respect to it. The
/// memory belongs to the arena and is valid only between the steps that need it.
///
/// Values are of any type; gradients are f32. A value with several readers gets a gradient from
/// each: the first is written to `gradient`, the next to `second_gradient`, and the step that
/// produced the value reads the two as a sum.
struct Tensor {
  model::Shape shape;
  backend::cpu::Tiles tiles;
  ElementType type = ElementType::kF32;
  std::size_t border = 0;  ///< of the values' grid, if quantized; gradients have none
  std::size_t number = 0;  ///< index in its Storage
  std::byte* values = nullptr;
  float* scales = nullptr;           ///< per sample, value = scale q; null unless quantized
  float* gradient = nullptr;         ///< null for the images
  float* second_gradient = nullptr;  ///< null if there is one reader
  int contributions = 0;             ///< gradients written in this backward pass

  /// The values in their own type, which T must be.
  template <class T>
  T* as() const {
    assert(type == kElementTypeOf<T>);
    return reinterpret_cast<T*>(values);
  }
  float* data() const { return as<float>(); }
  Grid grid() const { return {shape.height, shape.width, border}; }
  /// Of the values. Products of quantized ones read a little beyond the end (ByteProduct).
  std::size_t bytes() const {
    if (!is_quantized(type)) return tiles.size() * size_of(type);
    const std::size_t pixels = tiles.samples * grid().pixels() + kBeyond;
    return pixels * tiles.padded_channels() * size_of(type);
  }
  static constexpr std::size_t kBeyond = 32;  ///< pixels

  bool wants_gradient() const { return gradient != nullptr; }

  /// Where the next reader must write its gradient.
  float* next_gradient() {
    if (contributions++ == 0) return gradient;
    if (contributions > 2) backend::cpu::axpy(1.0f, second_gradient, gradient, tiles.size());
    return second_gradient;
  }

  /// The second gradient that is still to be added, or null; marks it as added (collect in lanes.h
  /// adds it).
  const float* take_second_gradient() {
    const bool pending = contributions > 1;
    contributions = pending ? 1 : contributions;
    return pending ? second_gradient : nullptr;
  }
};

}  // namespace hearsay::engine::cpu
