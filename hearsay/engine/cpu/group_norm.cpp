#include <cmath>

#include "hearsay/engine/cpu/norm.h"

namespace hearsay::engine::cpu {

namespace {

using model::GroupNorm;

/// y = relu(weight_c (x - m) r + bias_c + residual), m and r = 1 / sqrt(v + epsilon) of the
/// sample's group of M values. With g the gradient of y where y > 0, and for a channel S1 = sum of
/// g, S2 = sum of g (x - m); for a group A = sum of weight_c S1, B = sum of weight_c S2:
///
///   d weight_c = sum over samples of r S2,   d bias_c = sum of S1,
///   dx = weight_c r g - r A / M - (x - m) r^3 B / M
class GroupNormStep final : public AffineNorm {
 public:
  GroupNormStep(std::size_t groups, const Site& site)
      : AffineNorm(site, true),
        groups_(groups),
        members_(tiles_.channels / groups),
        deviation_(tiles_.samples * groups, 0.0),
        weight_gradient_(tiles_.channels),
        bias_gradient_(tiles_.channels) {}

  void forward(const Call& call, std::byte*) override {
    const float* weight = call.parameters + site_.places.parameter[0];
    const float* bias = call.parameters + site_.places.parameter[1];
    moments(site_.lanes, site_.x->data(), tiles_, first_, second_);
    for_each_group([&](std::size_t n, std::size_t g, std::size_t begin, std::size_t end) {
      Moments all;
      for (std::size_t c = begin; c < end; ++c) {
        all.add(static_cast<double>(tiles_.pixels), static_cast<double>(first_.at(n, c)),
                static_cast<double>(second_.at(n, c)));
      }
      const double r = 1 / std::sqrt(all.variance() + GroupNorm::kEpsilon);
      deviation_[n * groups_ + g] = r;
      for (std::size_t c = begin; c < end; ++c) {
        const double scale = static_cast<double>(weight[c]) * r;
        mean_.at(n, c) = static_cast<float>(all.mean);
        scale_.at(n, c) = static_cast<float>(scale);
        offset_.at(n, c) = static_cast<float>(static_cast<double>(bias[c]) - all.mean * scale);
      }
    });
    recompute();
  }

  void backward(const Call& call, std::byte*) override {
    sum_gradients();
    const float* weight = call.parameters + site_.places.parameter[0];
    const double count = static_cast<double>(members_ * tiles_.pixels);
    std::vector<double>& dw = weight_gradient_;
    std::vector<double>& db = bias_gradient_;
    std::ranges::fill(dw, 0.0);
    std::ranges::fill(db, 0.0);
    for_each_group([&](std::size_t n, std::size_t g, std::size_t begin, std::size_t end) {
      const double r = deviation_[n * groups_ + g];
      double sum = 0, product = 0;
      for (std::size_t c = begin; c < end; ++c) {
        const double s1 = static_cast<double>(first_.at(n, c));
        const double s2 = static_cast<double>(second_.at(n, c));
        dw[c] += r * s2;
        db[c] += s1;
        sum += static_cast<double>(weight[c]) * s1;
        product += static_cast<double>(weight[c]) * s2;
      }
      const double b = -r * r * r * product / count;
      const double rest = -r * sum / count - b * static_cast<double>(mean_.at(n, begin));
      for (std::size_t c = begin; c < end; ++c) {
        b_.at(n, c) = static_cast<float>(b);
        c_.at(n, c) = static_cast<float>(rest);
      }
    });
    for (std::size_t c = 0; c < tiles_.channels; ++c) {
      call.gradient[site_.places.parameter[0] + c] = static_cast<float>(dw[c]);
      call.gradient[site_.places.parameter[1] + c] = static_cast<float>(db[c]);
    }
    pass_gradients();
  }

 private:
  template <class Body>
  void for_each_group(const Body& body) const {
    for (std::size_t n = 0; n < tiles_.samples; ++n) {
      for (std::size_t g = 0; g < groups_; ++g) body(n, g, g * members_, (g + 1) * members_);
    }
  }

  std::size_t groups_, members_;
  std::vector<double> deviation_;
  std::vector<double> weight_gradient_, bias_gradient_;
};

}  // namespace

std::unique_ptr<Step> make_group_norm(const model::GroupNorm& norm, const Site& site) {
  return std::make_unique<GroupNormStep>(norm.groups, site);
}

}  // namespace hearsay::engine::cpu
