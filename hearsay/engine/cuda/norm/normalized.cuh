#pragma once

#include "hearsay/engine/cuda/norm/tile_sums.h"

namespace hearsay::engine::cuda {

/// What a batch norm makes of x; one expression, so that what relu lets through is the same
/// wherever it is found again.
__device__ inline float normalized(float x, const Normal& normal) {
  return fmaf(x - normal.mean, normal.scale, normal.bias);
}

}  // namespace hearsay::engine::cuda
