#pragma once

#include <cassert>
#include <cstddef>

#include "hearsay/backend/cpu/loops.h"
#include "hearsay/backend/cpu/tiles.h"
#include "hearsay/core/element_type.h"
#include "hearsay/model/operation.h"

namespace hearsay::engine::cpu {

/// A value of the network for one batch, and the gradient of the loss with respect to it. The
/// memory is the arena's; it is there only between the steps that need it.
///
/// Values are of any type; gradients are f32. A value with several readers gets a gradient from
/// each: the first to write one finds memory in `gradient`, the next in `second_gradient`, and
/// whoever made the value reads the two as a sum.
struct Tensor {
  model::Shape shape;
  backend::cpu::Tiles tiles;
  ElementType type = ElementType::kF32;
  std::size_t number = 0;  ///< in its Storage
  std::byte* values = nullptr;
  float* scales = nullptr;           ///< one per sample: what 1 stands for; null unless quantized
  float* gradient = nullptr;         ///< null for the images
  float* second_gradient = nullptr;  ///< null if there is one reader
  int contributions = 0;             ///< in this backward pass

  /// The values as what they are: T must be their type.
  template <class T>
  T* as() const {
    assert(type == kElementTypeOf<T>);
    return reinterpret_cast<T*>(values);
  }
  float* data() const { return as<float>(); }
  std::size_t bytes() const { return tiles.size() * size_of(type); }  ///< of the values

  bool wants_gradient() const { return gradient != nullptr; }

  /// Where the next reader shall write its gradient.
  float* next_gradient() {
    if (contributions++ == 0) return gradient;
    if (contributions > 2) backend::cpu::axpy(1.0f, second_gradient, gradient, tiles.size());
    return second_gradient;
  }

  /// The second gradient that is still to be added, or null; it then counts as added.
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
