#pragma once

#include "hearsay/engine/cuda/tile_sums.h"

namespace hearsay::engine::cuda {

/// What a batch norm makes of x; one expression, so that what relu lets through is the same
/// wherever it is found again.
__device__ inline float normalized(float x, const Normal& normal) {
  return fmaf(x - normal.mean, normal.scale, normal.bias);
}
__device__ inline float normalized(float x, const Normal& normal, bool relu) {
  const float y = normalized(x, normal);
  return relu && y < 0 ? 0.0f : y;
}

}  // namespace hearsay::engine::cuda
