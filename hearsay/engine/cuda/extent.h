#pragma once

#include "hearsay/engine/cuda/tensor.h"

namespace hearsay::engine::cuda {

/// The sizes of a tensor as kernels divide by them: it has less than 2^31 entries.
struct Extent {
  explicit Extent(const Tensor& tensor)
      : channels(static_cast<unsigned>(tensor.shape.channels)),
        height(static_cast<unsigned>(tensor.shape.height)),
        width(static_cast<unsigned>(tensor.shape.width)),
        batch(static_cast<unsigned>(tensor.batch)),
        size(static_cast<unsigned>(tensor.size())) {}

  unsigned channels, height, width;
  unsigned batch;  ///< samples per peer
  unsigned size;   ///< entries of all peers
};

}  // namespace hearsay::engine::cuda
