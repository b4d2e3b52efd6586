#pragma once

#include "hearsay/engine/cuda/norm/tile_sums.h"

namespace hearsay::engine::cuda {

/// Batch norm's output for x, before residual and relu; one expression, so that relu's mask has the
/// same bits wherever it is recomputed.
__device__ inline float normalized(float x, const Normal& normal) {
  return fmaf(x - normal.mean, normal.scale, normal.bias);
}

}  // namespace hearsay::engine::cuda
