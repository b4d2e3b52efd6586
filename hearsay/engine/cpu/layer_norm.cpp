#include <cmath>

#include "hearsay/engine/cpu/norm.h"

namespace hearsay::engine::cpu {

namespace {

using backend::cpu::Tiles;
using model::LayerNorm;

/// y = weight_j (x_j - m) r + bias_j for the features j of a sample, r = 1 / sqrt(v + epsilon).
/// With g the gradient of y, h = weight g, k = (x - m) r, and means over the features:
///
///   d weight_j = sum over samples of g_j k_j,   d bias_j = of g_j,
///   dx = r (h - mean(h) - k mean(h k))
class LayerNormStep final : public Step {
 public:
  explicit LayerNormStep(const Site& site)
      : site_(site), tiles_(site.x->tiles), moments_(tiles_.samples), gradients_(2 * features()) {}

  Demands demands() const override {
    return {.input_in_backward = true, .output_in_backward = false};
  }

  void forward(const Call& call, std::byte*) override {
    const float* weight = call.parameters + site_.places.parameter[0];
    const float* bias = call.parameters + site_.places.parameter[1];
    for (std::size_t n = 0; n < tiles_.samples; ++n) {
      double sum = 0, square = 0;
      for_each_feature(n, [&](std::size_t, std::size_t at) { sum += value(at); });
      const double mean = sum / static_cast<double>(features());
      for_each_feature(n, [&](std::size_t, std::size_t at) {
        square += (value(at) - mean) * (value(at) - mean);
      });
      const double r =
          1 / std::sqrt(square / static_cast<double>(features()) + LayerNorm::kEpsilon);
      moments_[n] = {mean, r};
      for_each_feature(n, [&](std::size_t j, std::size_t at) {
        site_.y->data()[at] = static_cast<float>(
            static_cast<double>(weight[j]) * (value(at) - mean) * r + static_cast<double>(bias[j]));
      });
    }
    backend::cpu::clear_padding(site_.y->data(), tiles_);
  }

  void backward(const Call& call, std::byte*) override {
    const float* weight = call.parameters + site_.places.parameter[0];
    const float* g = site_.y->collect();
    float* dx = site_.x->wants_gradient() ? site_.x->next_gradient() : nullptr;
    std::ranges::fill(gradients_, 0.0);
    const double count = static_cast<double>(features());
    for (std::size_t n = 0; n < tiles_.samples; ++n) {
      const auto [mean, r] = moments_[n];
      double sum = 0, product = 0;
      const auto unit = [&, m = mean, s = r](std::size_t at) { return (value(at) - m) * s; };
      for_each_feature(n, [&](std::size_t j, std::size_t at) {
        const double gradient = static_cast<double>(g[at]);
        const double h = static_cast<double>(weight[j]) * gradient;
        gradients_[j] += gradient * unit(at);
        gradients_[features() + j] += gradient;
        sum += h;
        product += h * unit(at);
      });
      if (dx == nullptr) continue;
      for_each_feature(n, [&, s = r](std::size_t j, std::size_t at) {
        const double h = static_cast<double>(weight[j]) * static_cast<double>(g[at]);
        dx[at] = static_cast<float>(s * (h - sum / count - unit(at) * product / count));
      });
    }
    if (dx) backend::cpu::clear_padding(dx, tiles_);
    for (std::size_t j = 0; j < features(); ++j) {
      call.gradient[site_.places.parameter[0] + j] = static_cast<float>(gradients_[j]);
      call.gradient[site_.places.parameter[1] + j] = static_cast<float>(gradients_[features() + j]);
    }
  }

 private:
  struct MeanAndScale {
    double mean, r;
  };

  std::size_t features() const { return tiles_.channels * tiles_.pixels; }
  double value(std::size_t at) const { return static_cast<double>(site_.x->data()[at]); }

  /// body(j, at): feature j, in the order channel, row, column, of sample n is at offset `at`.
  template <class Body>
  void for_each_feature(std::size_t n, const Body& body) const {
    for (std::size_t c = 0; c < tiles_.channels; ++c) {
      for (std::size_t p = 0; p < tiles_.pixels; ++p) {
        body(c * tiles_.pixels + p, tiles_.at(n, c, p));
      }
    }
  }

  Site site_;
  Tiles tiles_;
  std::vector<MeanAndScale> moments_;
  std::vector<double> gradients_;
};

}  // namespace

std::unique_ptr<Step> make_layer_norm(const Site& site) {
  return std::make_unique<LayerNormStep>(site);
}

}  // namespace hearsay::engine::cpu
