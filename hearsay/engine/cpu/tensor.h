#pragma once

#include "hearsay/backend/cpu/loops.h"
#include "hearsay/backend/cpu/tiles.h"
#include "hearsay/model/operation.h"

namespace hearsay::engine::cpu {

/// A value of the network for one batch, and the gradient of the loss with respect to it. The
/// memory is the arena's; it is there only between the steps that need it.
///
/// A value with several readers gets a gradient from each: the first to write one finds room in
/// `gradient`, the next in `also`, and whoever made the value reads the two as a sum.
struct Tensor {
  model::Shape shape;
  backend::cpu::Tiles tiles;
  std::size_t number = 0;  ///< in its Storage
  float* data = nullptr;
  float* gradient = nullptr;  ///< null for the images
  float* also = nullptr;      ///< null if there is one reader
  int contributions = 0;      ///< in this backward pass

  bool wants_gradient() const { return gradient != nullptr; }

  /// Where the next reader shall write its gradient.
  float* next_gradient() {
    if (contributions++ == 0) return gradient;
    if (contributions > 2) backend::cpu::axpy(1.0f, also, gradient, tiles.size());
    return also;
  }

  /// The second gradient that is still to be added, or null; it then counts as added.
  const float* take_also() {
    const bool pending = contributions > 1;
    contributions = pending ? 1 : contributions;
    return pending ? also : nullptr;
  }

  /// The whole gradient.
  float* collect() {
    if (const float* more = take_also()) backend::cpu::axpy(1.0f, more, gradient, tiles.size());
    return gradient;
  }
};

}  // namespace hearsay::engine::cpu
