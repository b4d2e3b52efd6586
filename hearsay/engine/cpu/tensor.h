#pragma once

#include <cassert>
#include <cstddef>

#include "hearsay/backend/cpu/loops.h"
#include "hearsay/backend/cpu/tiles.h"
#include "hearsay/core/element_type.h"
#include "hearsay/model/operation.h"

namespace hearsay::engine::cpu {

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
  std::size_t bytes() const { return tiles.size() * size_of(type); }  ///< of the values

  bool wants_gradient() const { return gradient != nullptr; }

  /// Where the next reader must write its gradient.
  float* next_gradient() {
    if (contributions++ == 0) return gradient;
    if (contributions > 2) backend::cpu::axpy(1.0f, second_gradient, gradient, tiles.size());
    return second_gradient;
  }

  /// The second gradient that is still to be added, or null; marks it as added.
  const float* take_second_gradient() {
    const bool pending = contributions > 1;
    contributions = pending ? 1 : contributions;
    return pending ? second_gradient : nullptr;
  }

  /// The whole gradient.
  float* collect() {
    if (const float* more = take_second_gradient())
      backend::cpu::axpy(1.0f, more, gradient, tiles.size());
    return gradient;
  }
};

}  // namespace hearsay::engine::cpu
