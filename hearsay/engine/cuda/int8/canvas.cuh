#pragma once

#include "hearsay/engine/cuda/int8/product.cuh"
#include "hearsay/engine/cuda/int8/tensor.h"

namespace hearsay::engine::cuda::int8 {

/// Rows `first` .. of a sample's codes, as canvas rows of `groups` x 16 channels from `first_group`
/// on, with zeros where the canvas reaches beyond the image. All threads; `wait_for_copies` and a
/// barrier follow.
struct CanvasRows {
  int first;               ///< image row of the first canvas row; may be negative
  int left;                ///< image column of the first canvas column
  unsigned height, width;  ///< of the canvas
  unsigned pixel_bytes, groups, first_group;
};
__device__ inline void fill_canvas(const std::int8_t* codes, const Extent& x, const CanvasRows& to,
                                   std::uint32_t canvas) {
  const unsigned count = to.height * to.width * to.groups;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const unsigned group = i % to.groups, pixel = i / to.groups;
    const int row = to.first + static_cast<int>(pixel / to.width);
    const int column = to.left + static_cast<int>(pixel % to.width);
    const bool inside = row >= 0 && row < static_cast<int>(x.height) && column >= 0 &&
                        column < static_cast<int>(x.width);
    const std::int8_t* from =
        inside ? codes +
                     (static_cast<unsigned>(row) * x.width + static_cast<unsigned>(column)) *
                         x.channels +
                     16 * (to.first_group + group)
               : codes;
    copy_16_async(canvas + pixel * to.pixel_bytes + 16 * group, from, inside ? 16 : 0);
  }
  commit_copies();
}

}  // namespace hearsay::engine::cuda::int8
