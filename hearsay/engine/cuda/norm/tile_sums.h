#pragma once

#include <vector_types.h>

namespace hearsay::engine::cuda {

/// What batch norm does to one channel of one peer: y = relu((x - mean) scale + bias + residual),
/// with scale = weight r and r = 1 / sqrt(variance + epsilon).
struct alignas(16) Normal {
  float mean, scale, bias, r;
};

/// Pairs of sums over the pixels of each channel, in parts: [peer][part][channel]. Steps compute
/// them from what they write, so that batch norm need not read it once more. Every pixel is in one
/// part.
///
/// Moments: of n values, as many in each part, their sum s and the sum m of their squares about
/// their own mean. With N in all, the sum of squares about the mean of all is
///   sum of (m + s^2 / n)  -  (sum of s)^2 / N,
/// in doubles: floats keep m and s to 6e-8 of themselves, but would lose m in the squares of values
/// that are hundreds of deviations from 0.
///
/// Sums of gradients: of g and of g (x - mean); parts may have different sizes.
struct TileSums {
  const float2* parts = nullptr;  ///< null: there are none
  unsigned long count = 0;        ///< of parts; long, since launches have no padding
};

/// What a step must know of the batch norm that made its input, to sum up the gradient for it.
struct NormOfOutput {
  const void* x = nullptr;  ///< what was normalised; null: no batch norm made this value
  const Normal* normals = nullptr;
  bool relu = false;
  bool residual = false;
};

}  // namespace hearsay::engine::cuda
