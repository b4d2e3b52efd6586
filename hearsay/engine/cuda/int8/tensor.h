#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/model/operation.h"

namespace hearsay::engine::cuda::int8 {

/// Channels of a pixel in memory: a multiple of 16, so that a pixel is whole units of 16 bytes and
/// one Philox block rounds one of them. What is added is zero.
constexpr std::size_t padded(std::size_t channels) { return (channels + 15) / 16 * 16; }

/// A value of a network in 8 bits for the minibatches of all m peers (engine/quantize.h), on the
/// device: the code of (peer i, sample b, row y, column x, channel c) stands at
///   ((((i batch + b) height + y) width + x) channels + c), channels being padded,
/// the scale of a sample at i batch + b. Its gradient is in floats, in the same places.
struct Tensor {
  model::Shape shape;
  std::size_t peers = 0;
  std::size_t batch = 0;
  std::int8_t* codes = nullptr;
  float* scales = nullptr;
  float* gradient = nullptr;  ///< null for the images
  int contributions = 0;      ///< readers that wrote a gradient in this backward pass

  std::size_t channels() const { return padded(shape.channels); }
  std::size_t per_sample() const { return shape.pixels() * channels(); }
  std::size_t samples() const { return peers * batch; }
  std::size_t size() const { return samples() * per_sample(); }
  bool wants_gradient() const { return gradient != nullptr; }

  /// Whether the next reader must add its gradient to what is there, rather than overwrite.
  bool adds() { return contributions++ > 0; }
};

/// The sizes of a sample as kernels need them.
struct Extent {
  explicit Extent(const Tensor& tensor)
      : height(static_cast<unsigned>(tensor.shape.height)),
        width(static_cast<unsigned>(tensor.shape.width)),
        channels(static_cast<unsigned>(tensor.channels())),
        samples(static_cast<unsigned>(tensor.samples())) {}

  __host__ __device__ unsigned pixels() const { return height * width; }
  __host__ __device__ unsigned size() const { return pixels() * channels; }

  unsigned height, width;
  unsigned channels;  ///< padded
  unsigned samples;   ///< of all peers

  bool operator==(const Extent&) const = default;
};

}  // namespace hearsay::engine::cuda::int8
