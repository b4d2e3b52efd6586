#include <algorithm>
#include <cmath>

#include "hearsay/engine/cpu/norm.h"

namespace hearsay::engine::cpu {

namespace {

using model::BatchNorm;

/// y = relu(weight_c (x - m_c) r_c + bias_c + residual), r_c = 1 / sqrt(v_c + epsilon). With M
/// values per channel, g the gradient of y where y > 0, and S1 = sum of g, S2 = sum of g (x - m):
///
///   d weight = r S2,   d bias = S1,   dx = weight r (g - S1 / M - (x - m) r^2 S2 / M)
class BatchNormStep final : public AffineNorm {
 public:
  explicit BatchNormStep(const Site& site)
      : AffineNorm(site, false), deviation_(tiles_.channels, 0.0) {}

  void forward(const Call& call, std::byte*) override {
    const float* weight = call.parameters + site_.places.parameter[0];
    const float* bias = call.parameters + site_.places.parameter[1];
    if (call.training) {
      moments(site_.lanes, site_.x->data(), tiles_, first_, second_);
    }
    for_channels([&](std::size_t c) {
      double mean = 0, variance = 0;
      if (call.training) {
        const Moments all = of_channel(c);
        mean = all.mean;
        variance = all.variance();
        update(call, site_.places.buffer[0] + c, mean);
        update(call, site_.places.buffer[1] + c, all.square / std::max(all.count - 1, 1.0));
      } else {
        mean = static_cast<double>(call.buffers[site_.places.buffer[0] + c]);
        variance = static_cast<double>(call.buffers[site_.places.buffer[1] + c]);
      }
      deviation_[c] = 1 / std::sqrt(variance + BatchNorm::kEpsilon);
      const double scale = static_cast<double>(weight[c]) * deviation_[c];
      mean_.at(0, c) = static_cast<float>(mean);
      scale_.at(0, c) = static_cast<float>(scale);
      offset_.at(0, c) = static_cast<float>(static_cast<double>(bias[c]) - mean * scale);
    });
    recompute();
  }

  void backward(const Call& call, std::byte*) override {
    sum_gradients();
    const double count = static_cast<double>(tiles_.samples * tiles_.pixels);
    for_channels([&](std::size_t c) {
      double sum = 0, product = 0;
      for (std::size_t n = 0; n < tiles_.samples; ++n) {
        sum += static_cast<double>(first_.at(n, c));
        product += static_cast<double>(second_.at(n, c));
      }
      const double r = deviation_[c], scale = static_cast<double>(scale_.at(0, c));
      const double b = -scale * r * r * product / count;
      call.gradient[site_.places.parameter[0] + c] = static_cast<float>(r * product);
      call.gradient[site_.places.parameter[1] + c] = static_cast<float>(sum);
      b_.at(0, c) = static_cast<float>(b);
      c_.at(0, c) =
          static_cast<float>(-scale * sum / count - b * static_cast<double>(mean_.at(0, c)));
    });
    pass_gradients();
  }

 private:
  /// body(c) for every channel, each of which is computed by one thread.
  template <class Body>
  void for_channels(const Body& body) const {
    constexpr std::size_t kEach = 16;
    site_.lanes.run((tiles_.channels + kEach - 1) / kEach, [&](std::size_t, std::size_t k) {
      const std::size_t end = std::min(tiles_.channels, (k + 1) * kEach);
      for (std::size_t c = k * kEach; c < end; ++c) body(c);
    });
  }

  Moments of_channel(std::size_t c) const {
    Moments all;
    for (std::size_t n = 0; n < tiles_.samples; ++n) {
      all.add(static_cast<double>(tiles_.pixels), static_cast<double>(first_.at(n, c)),
              static_cast<double>(second_.at(n, c)));
    }
    return all;
  }

  static void update(const Call& call, std::size_t place, double value) {
    float& running = call.new_buffers[place];
    running = static_cast<float>((1 - call.momentum) * static_cast<double>(running) +
                                 call.momentum * value);
  }

  std::vector<double> deviation_;  ///< 1 / sqrt(variance + epsilon)
};

}  // namespace

std::unique_ptr<Step> make_batch_norm(const Site& site) {
  return std::make_unique<BatchNormStep>(site);
}

}  // namespace hearsay::engine::cpu
