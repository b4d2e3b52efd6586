#pragma once

#include "hearsay/engine/cuda/int8/canvas.cuh"
#include "hearsay/engine/cuda/int8/step.h"

/// A convolution, or a linear layer, which is one of a single pixel, as kernels know it.
namespace hearsay::engine::cuda::int8 {

/// Forward, or the gradient of its input.
struct ConvSizes {
  Extent x, y;
  Product product;          ///< of one band: `rows` outputs at a time
  unsigned batch;           ///< samples per peer
  unsigned stride, border;  ///< of the convolution; canvas pixels before the image
  unsigned out;             ///< channels that are not padding
  unsigned relu;
  unsigned sums_in_shared;

  bool operator==(const ConvSizes&) const = default;
};

/// The model's parts that a peer's samples are multiplied with.
struct Factor {
  const std::uint32_t* words;  ///< forward or turned
  std::size_t words_of_peer;
  const std::uint32_t* magnitudes;

  __device__ const uint4* of(unsigned peer) const {
    return reinterpret_cast<const uint4*>(words + peer * words_of_peer);
  }
  __device__ float scale(unsigned peer) const {
    return scale_of(__uint_as_float(magnitudes[peer]), 1, kTop8);
  }
};

inline ConvSizes shape_of(const model::Conv2d& conv, const Site& site) {
  return {.x = Extent(*site.x),
          .y = Extent(*site.y),
          .product = {},
          .batch = static_cast<unsigned>(site.x->batch),
          .stride = static_cast<unsigned>(conv.stride),
          .border = 0,
          .out = static_cast<unsigned>(conv.out),
          .relu = site.relu,
          .sums_in_shared = 1};
}
inline ConvSizes forward_shape(const model::Conv2d& conv, const Site& site) {
  ConvSizes s = shape_of(conv, site);
  s.border = static_cast<unsigned>(conv.padding);
  const auto kernel = static_cast<unsigned>(conv.kernel);
  s.product = {.rows = s.y.height,
               .columns = s.y.width,
               .step = s.stride,
               .kernel = kernel,
               .canvas_width = (s.y.width - 1) * s.stride + kernel,
               .pixel_bytes = pixel_bytes_of(s.x.channels),
               .groups_in = s.x.channels / 16,
               .groups_out = s.y.channels / 16};
  return s;
}
/// Of the turned product: outputs are x, the canvas has the gradient of y.
inline ConvSizes backward_shape(const model::Conv2d& conv, const Site& site) {
  ConvSizes s = shape_of(conv, site);
  const auto kernel = static_cast<unsigned>(conv.kernel);
  s.border = kernel - 1 - static_cast<unsigned>(conv.padding);
  s.product = {.rows = s.x.height,
               .columns = s.x.width,
               .step = 1,
               .kernel = kernel,
               .canvas_width = s.x.width + kernel - 1,
               .pixel_bytes = pixel_bytes_of(s.y.channels),
               .groups_in = s.y.channels / 16,
               .groups_out = s.x.channels / 16};
  return s;
}

}  // namespace hearsay::engine::cuda::int8
