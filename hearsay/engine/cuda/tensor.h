#pragma once

#include <cstddef>

#include "hearsay/backend/precision.h"
#include "hearsay/core/element_type.h"
#include "hearsay/engine/cuda/norm/tile_sums.h"
#include "hearsay/model/operation.h"

namespace hearsay::engine::cuda {

/// What tensors are stored as where products have that precision.
constexpr ElementType storage_type(backend::Precision precision) {
  switch (precision) {
    case backend::Precision::kTf32:
      return ElementType::kTf32;
    case backend::Precision::kFp32:
      return ElementType::kF32;
    case backend::Precision::kBf16:
      return ElementType::kBf16;
    case backend::Precision::kInt8:
      return ElementType::kI8;
  }
  return ElementType::kF32;
}

/// A value of the network for the minibatches of all m peers, and the gradient of the losses with
/// respect to it, on the device: entry (peer i, sample b, row y, column x, channel c) stands at
///   ((((i batch + b) height + y) width + x) channels + c).
struct Tensor {
  model::Shape shape;
  std::size_t peers = 0;
  std::size_t batch = 0;
  ElementType type = ElementType::kF32;  ///< of the values and of the gradient
  void* data = nullptr;
  float* scales = nullptr;     ///< [peer][sample]: what 1 stands for; null unless quantized
  void* gradient = nullptr;    ///< null for the images; may be shared (gradient_owners.h)
  int readers = 0;             ///< steps that read it
  int contributions = 0;       ///< readers that wrote a gradient in this backward pass
  bool wants_moments = false;  ///< its reader is a batch norm
  TileSums moments{};          ///< of its values, in this forward pass
  NormOfOutput norm{};         ///< the batch norm that made it
  TileSums gradient_sums{};    ///< of the whole gradient g and of g (x - mean) of `norm`, if set
  bool wants_mask = false;     ///< relu made it: its gradient must become 0 where it is not > 0
  bool masked = false;         ///< a reader has masked it in this backward pass

  int entry_bytes() const { return static_cast<int>(size_of(type)); }
  std::size_t per_peer() const { return batch * shape.size(); }
  std::size_t size() const { return peers * per_peer(); }
  std::size_t bytes() const { return size() * size_of(type); }  ///< of the values
  std::size_t pixels() const { return peers * batch * shape.pixels(); }
  bool wants_gradient() const { return gradient != nullptr; }

  /// Whether the next reader must add its gradient to what is there, rather than overwrite.
  bool adds() { return contributions++ > 0; }

  /// Whether the reader that just asked `adds` is the last one, and so writes the whole gradient:
  /// it may sum it up for `norm`, and mask it.
  bool is_complete() const { return contributions == readers; }
};

}  // namespace hearsay::engine::cuda
