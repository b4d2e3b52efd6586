#pragma once

#include <cstddef>
#include <span>

namespace hearsay::data {

/// A rectangular window of a larger array: row y begins at data + y * stride.
struct Plane {
  const float* data;
  std::size_t height;
  std::size_t width;
  std::size_t stride;
};

/// Fill `out` (height * width floats) with the plane resized to that size: bilinear; when
/// shrinking, the triangle filter widens with the ratio, so that every pixel contributes
/// (antialiasing, as in PIL and torchvision). Weights of a pixel sum to 1; nothing outside the
/// plane is read. All sizes > 0.
void resize(const Plane& in, std::size_t height, std::size_t width, std::span<float> out);

}  // namespace hearsay::data
