#pragma once

#include <algorithm>
#include <vector>

#include "hearsay/backend/cpu/normalize.h"
#include "hearsay/engine/cpu/step.h"

/// Common to the norms: the few numbers per sample and channel between the vector loops.
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

/// An array with one float per sample and padded channel, or per padded channel; the padding of the
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
  /// Of sample n, and of those after it.
  float* of(std::size_t n) { return values_.data() + n * stride_; }
  backend::cpu::PerChannel from(std::size_t n) const {
    return {values_.data() + n * stride_, stride_};
  }

 private:
  std::size_t width_ = 0, stride_ = 0;
  std::vector<float> values_;
};

/// The gradient of the residual of a fused norm is that of the output (after relu).
inline void pass_to_residual(const Site& site) {
  if (site.residual == nullptr || !site.residual->wants_gradient()) return;
  const float* g = site.y->gradient;
  float* target = site.residual->next_gradient();
  if (target == g) return;
  const std::size_t each = site.y->tiles.sample_size();
  site.lanes.for_samples(site.y->tiles.samples, each, [&](std::size_t first, std::size_t count) {
    std::copy_n(g + first * each, count * each, target + first * each);
  });
}

/// moments (normalize.h) of a batch.
inline void moments(const Lanes& lanes, const float* x, const backend::cpu::Tiles& tiles,
                    ChannelArray& mean, ChannelArray& square) {
  const std::size_t each = tiles.sample_size();
  lanes.for_samples(tiles.samples, each, [&](std::size_t first, std::size_t count) {
    backend::cpu::moments(x + first * each, tiles.of(count), mean.of(first), square.of(first));
  });
}

/// A norm that scales and shifts each channel: y = relu(scale x + offset + residual), with scale
/// and offset per sample or the same for all samples.
class AffineNorm : public Step {
 public:
  AffineNorm(const Site& site, bool per_sample)
      : site_(site),
        tiles_(site.x->tiles),
        mean_(tiles_, per_sample),
        scale_(tiles_, per_sample),
        offset_(tiles_, per_sample),
        first_(tiles_, true),
        second_(tiles_, true),
        b_(tiles_, per_sample),
        c_(tiles_, per_sample) {}

  Demands demands() const final {
    // If no residual was added, the sign of the output is recomputed from the input.
    return {.input_in_backward = true,
            .output_in_backward = site_.relu && site_.residual != nullptr,
            .output_is_cheap = true};
  }

  void recompute() final {
    const float* residual = site_.residual ? site_.residual->data() : nullptr;
    for_samples([&](std::size_t first, std::size_t count) {
      const std::size_t at = first * tiles_.sample_size();
      backend::cpu::affine(site_.x->data() + at, tiles_.of(count), scale_.from(first),
                           offset_.from(first), residual ? residual + at : nullptr, site_.relu,
                           site_.y->data() + at);
    });
  }

 protected:
  /// body(first, count) for parts of the batch.
  template <class Body>
  void for_samples(const Body& body) const {
    site_.lanes.for_samples(tiles_.samples, tiles_.sample_size(), body);
  }

  /// With g the gradient of y where y > 0: first = sum of g, second = sum of g (x - mean), per
  /// sample and channel. Overwrites the output's gradient with g.
  void sum_gradients() {
    Tensor& y = *site_.y;
    const float* more = y.take_second_gradient();
    for_samples([&](std::size_t first, std::size_t count) {
      const std::size_t at = first * tiles_.sample_size();
      backend::cpu::affine_sums(site_.x->data() + at, tiles_.of(count), mean_.from(first),
                                {.relu = site_.relu,
                                 .y = site_.residual ? y.data() + at : nullptr,
                                 .scale = scale_.from(first),
                                 .offset = offset_.from(first)},
                                more ? more + at : nullptr, y.gradient + at, first_.of(first),
                                second_.of(first));
    });
  }

  /// dx = scale g + b x + c, and the residual's gradient.
  void pass_gradients() {
    pass_to_residual(site_);
    if (!site_.x->wants_gradient()) return;
    float* dx = site_.x->next_gradient();
    for_samples([&](std::size_t first, std::size_t count) {
      const std::size_t at = first * tiles_.sample_size();
      backend::cpu::affine_backward(site_.y->gradient + at, site_.x->data() + at, tiles_.of(count),
                                    scale_.from(first), b_.from(first), c_.from(first), dx + at);
    });
  }

  Site site_;
  backend::cpu::Tiles tiles_;
  ChannelArray mean_, scale_, offset_;
  ChannelArray first_, second_;  ///< sums or moments per sample and channel
  ChannelArray b_, c_;
};

}  // namespace hearsay::engine::cpu
