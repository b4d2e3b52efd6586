#include <algorithm>
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
    for_each_sample([&](std::size_t n) {
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
      backend::cpu::clear_padding(site_.y->data() + n * tiles_.sample_size(), tiles_.of(1));
    });
  }

  void backward(const Call& call, std::byte*) override {
    const float* g = collect(site_.lanes, *site_.y);
    add_parameter_gradients(call, g);
    if (!site_.x->wants_gradient()) return;
    const float* weight = call.parameters + site_.places.parameter[0];
    float* dx = site_.x->next_gradient();
    const double count = static_cast<double>(features());
    for_each_sample([&](std::size_t n) {
      double sum = 0, product = 0;
      for_each_feature(n, [&](std::size_t j, std::size_t at) {
        const double h = static_cast<double>(weight[j]) * static_cast<double>(g[at]);
        sum += h;
        product += h * unit(n, at);
      });
      const double r = moments_[n].r;
      for_each_feature(n, [&](std::size_t j, std::size_t at) {
        const double h = static_cast<double>(weight[j]) * static_cast<double>(g[at]);
        dx[at] = static_cast<float>(r * (h - sum / count - unit(n, at) * product / count));
      });
      backend::cpu::clear_padding(dx + n * tiles_.sample_size(), tiles_.of(1));
    });
  }

 private:
  struct MeanAndScale {
    double mean, r;
  };

  std::size_t features() const { return tiles_.channels * tiles_.pixels; }
  double value(std::size_t at) const { return static_cast<double>(site_.x->data()[at]); }
  double unit(std::size_t n, std::size_t at) const {
    return (value(at) - moments_[n].mean) * moments_[n].r;
  }

  template <class Body>
  void for_each_sample(const Body& body) const {
    site_.lanes.for_samples(tiles_.samples, tiles_.sample_size(),
                            [&](std::size_t first, std::size_t count) {
                              for (std::size_t n = first; n < first + count; ++n) body(n);
                            });
  }

  /// Sums over the samples, in their order.
  void add_parameter_gradients(const Call& call, const float* g) {
    std::ranges::fill(gradients_, 0.0);
    site_.lanes.run(tiles_.blocks(), [&](std::size_t, std::size_t block) {
      const std::size_t first = block * tiles_.block;
      const std::size_t end = std::min(tiles_.channels, first + tiles_.block);
      for (std::size_t n = 0; n < tiles_.samples; ++n) {
        for_each_feature(n, first, end, [&](std::size_t j, std::size_t at) {
          const double gradient = static_cast<double>(g[at]);
          gradients_[j] += gradient * unit(n, at);
          gradients_[features() + j] += gradient;
        });
      }
    });
    for (std::size_t j = 0; j < features(); ++j) {
      call.gradient[site_.places.parameter[0] + j] = static_cast<float>(gradients_[j]);
      call.gradient[site_.places.parameter[1] + j] = static_cast<float>(gradients_[features() + j]);
    }
  }

  /// body(j, at): feature j, in the order channel, row, column, of sample n is at offset `at`.
  template <class Body>
  void for_each_feature(std::size_t n, const Body& body) const {
    for_each_feature(n, 0, tiles_.channels, body);
  }
  template <class Body>
  void for_each_feature(std::size_t n, std::size_t begin, std::size_t end, const Body& body) const {
    for (std::size_t c = begin; c < end; ++c) {
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
