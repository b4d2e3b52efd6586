#pragma once

#include <vector_types.h>

namespace hearsay::engine::cuda {

/// What batch norm does to one channel of one peer: y = relu((x - mean) scale + bias + residual),
/// with scale = weight r and r = 1 / sqrt(variance + epsilon).
struct alignas(16) Normal {
  float mean, scale, bias, r;
};

/// Sums over the pixels of each channel, in parts: [peer][part][channel]. Convolutions make them of
/// what they write anyway, so that batch norm need not read it once more.
struct TileSums {
  const float2* parts = nullptr;  ///< null: there are none
  unsigned long count = 0;        ///< of parts; long, since launches have no padding
};

/// What a convolution must know of the batch norm that made its input, to sum up that one's
/// gradient.
struct NormOfOutput {
  const void* x = nullptr;  ///< what was normalised; null: no batch norm made this value
  const Normal* normals = nullptr;
  bool relu = false;
  bool residual = false;
};

}  // namespace hearsay::engine::cuda
