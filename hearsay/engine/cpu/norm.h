#pragma once

#include <algorithm>
#include <vector>

#include "hearsay/backend/cpu/normalize.h"
#include "hearsay/engine/cpu/step.h"

/// What the norms share: the few numbers a sample and channel between the vector loops.
namespace hearsay::engine::cpu {

/// Mean and spread of a set of values, merged from parts (Chan, Golub, LeVeque 1983).
struct Moments {
  double count = 0, mean = 0, square = 0;  ///< square: the sum of (x - mean)^2

  void add(double n, double part_mean, double part_square) {
    const double apart = part_mean - mean;
    const double total = count + n;
    mean += apart * n / total;
    square += part_square + apart * apart * count * n / total;
    count = total;
  }
  double variance() const { return square / count; }
};

/// An array with one float a sample and padded channel, or one a padded channel; what fills up the
/// last block stays zero.
class ChannelArray {
 public:
  ChannelArray() = default;
  ChannelArray(const backend::cpu::Tiles& tiles, bool per_sample)
      : width_(tiles.padded_channels()),
        stride_(per_sample ? width_ : 0),
        values_(per_sample ? tiles.samples * width_ : width_, 0.0f) {}

  float& at(std::size_t n, std::size_t c) { return values_[n * stride_ + c]; }
  float at(std::size_t n, std::size_t c) const { return values_[n * stride_ + c]; }
  float* data() { return values_.data(); }
  operator backend::cpu::PerChannel() const { return {values_.data(), stride_}; }

 private:
  std::size_t width_ = 0, stride_ = 0;
  std::vector<float> values_;
};

/// The gradient that reaches the residual of a fused norm is that of the output (after relu).
inline void pass_to_residual(const Site& site) {
  if (site.residual == nullptr || !site.residual->wants_gradient()) return;
  const float* g = site.y->gradient;
  float* target = site.residual->next_gradient();
  if (target != g) std::copy_n(g, site.y->tiles.size(), target);
}

}  // namespace hearsay::engine::cpu
