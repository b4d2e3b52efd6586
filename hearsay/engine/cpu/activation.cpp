#include <algorithm>
#include <cmath>
#include <numbers>

#include "hearsay/backend/cpu/normalize.h"
#include "hearsay/engine/cpu/step.h"

namespace hearsay::engine::cpu {

namespace {

struct Relu {
  static constexpr bool kFromOutput = true;
  static float value(float x) { return std::max(x, 0.0f); }
  static float derivative(float y) { return y > 0 ? 1.0f : 0.0f; }
};

struct Gelu {
  static constexpr bool kFromOutput = false;
  static float normal_cdf(float x) {
    return 0.5f * std::erfc(-x * std::numbers::sqrt2_v<float> / 2);
  }
  static float value(float x) { return x * normal_cdf(x); }
  static float derivative(float x) {
    constexpr float kDensity = std::numbers::inv_sqrtpi_v<float> / std::numbers::sqrt2_v<float>;
    return normal_cdf(x) + x * kDensity * std::exp(-0.5f * x * x);
  }
};

/// y = value(x), entry by entry; the derivative is computed from the output where that is enough.
template <class Function>
class ActivationStep final : public Step {
 public:
  explicit ActivationStep(const Site& site) : site_(site) {}

  Demands demands() const override {
    return {.input_in_backward = !Function::kFromOutput,
            .output_in_backward = Function::kFromOutput};
  }

  void forward(const Call&, std::byte*) override {
    const float* x = site_.x->data();
    float* y = site_.y->data();
    for_samples([&](std::size_t first, std::size_t count) {
      const std::size_t at = first * site_.y->tiles.sample_size();
      const auto part = site_.y->tiles.of(count);
      std::transform(x + at, x + at + part.size(), y + at, Function::value);
      backend::cpu::clear_padding(y + at, part);
    });
  }

  void backward(const Call&, std::byte*) override {
    if (!site_.x->wants_gradient()) return;
    const float* g = collect(site_.lanes, *site_.y);
    const float* from = Function::kFromOutput ? site_.y->data() : site_.x->data();
    float* dx = site_.x->next_gradient();
    for_samples([&](std::size_t first, std::size_t count) {
      const std::size_t each = site_.y->tiles.sample_size(), at = first * each;
      std::transform(g + at, g + at + count * each, from + at, dx + at,
                     [](float gradient, float y) { return gradient * Function::derivative(y); });
    });
  }

 private:
  template <class Body>
  void for_samples(const Body& body) const {
    site_.lanes.for_samples(site_.y->tiles.samples, site_.y->tiles.sample_size(), body);
  }

  Site site_;
};

}  // namespace

std::unique_ptr<Step> make_relu(const Site& site) {
  return std::make_unique<ActivationStep<Relu>>(site);
}
std::unique_ptr<Step> make_gelu(const Site& site) {
  return std::make_unique<ActivationStep<Gelu>>(site);
}

}  // namespace hearsay::engine::cpu
