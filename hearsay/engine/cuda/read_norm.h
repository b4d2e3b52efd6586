#pragma once

#include "hearsay/engine/cuda/tile_sums.h"

namespace hearsay::engine::cuda {

/// Where a call keeps the peers' arrays, and a batch norm's places in them.
struct NormModel {
  const float* const* parameters = nullptr;
  const float* const* buffers = nullptr;
  float* const* new_buffers = nullptr;
  float* const* gradient = nullptr;
  const float* momentum = nullptr;
  unsigned long weight = 0, bias = 0;    ///< offsets in `parameters` and `gradient`
  unsigned long mean = 0, variance = 0;  ///< offsets in `buffers`
};

/// A batch norm that nobody carries out by itself: whoever reads its output normalises its input.
struct ReadNorm {
  Normal* normals = nullptr;  ///< [peer][channel]; null: there is no norm
  unsigned long relu = 0;
  TileSums moments{};  ///< of the input; where set, the reader finds the normals from them first
  unsigned long pixels = 0;  ///< of one peer
  NormModel model{};
};

}  // namespace hearsay::engine::cuda
