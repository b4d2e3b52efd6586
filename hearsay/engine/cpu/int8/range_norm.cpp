#include "hearsay/backend/cpu/int8/range_norm.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "hearsay/engine/cpu/int8/step.h"
#include "hearsay/engine/cpu/int8/values.h"
#include "hearsay/engine/cpu/norm.h"

namespace hearsay::engine::cpu::int8 {

namespace {

using model::RangeEvoNorm;

/// Range EvoNorm with a hard gate (model/operation.h) on codes, x = s q, a sample at a time. T is
/// the sum of the ranges of a group's 16 runs, an integer; then
///
///   S = 1 / (((kappa s) T) / 16 + epsilon)
///   n = (v s) / 6,   t = clamp(n q + 1/2, 0, 1),   y = (((weight S) s) q) t + bias (+ residual)
///
/// Backward, with sums over the pixels of a channel P = sum of g q t and Q = sum of g q^2 inside:
///
///   d bias = sum of g,   d weight = S s P,   d v = weight S s^2 Q / 6,   dS = sum of weight s P
///   dx = weight S g (t + n q inside) - kappa S^2 dS / 16 at the maxima, + at the minima
///
/// where a run's maximum (minimum) that occurs k times gets a k-th each.
class RangeNormStep final : public Step {
 public:
  RangeNormStep(const RangeEvoNorm& norm, const Site& site)
      : site_(site),
        x_(*site.x),
        y_(*site.y),
        members_(x_.shape.channels / norm.groups),
        groups_(norm.groups),
        run_(members_ * x_.shape.pixels() / RangeEvoNorm::kRuns),
        length_(std::gcd(run_, x_.shape.pixels())),
        pieces_(x_.shape.pixels() / length_),
        kappa_(static_cast<float>(0.175 * (1 + std::sqrt(std::numbers::pi * std::log(4.0))) /
                                  std::sqrt(2 * std::log(static_cast<double>(run_))))),
        spread_(groups_) {
    const std::size_t width = channels_of(x_), all = pieces_ * width;
    for (auto* array : {&gate_, &factor_, &bias_}) array->assign(width, 0.0f);
    for (auto* array : {&sum_, &product_, &square_}) array->assign(width, 0.0);
    for (auto* array : {&high_, &low_}) array->assign(all, 0);
    for (auto* array : {&highs_, &lows_}) array->assign(all, 0);
    for (auto* array : {&high_shares_, &low_shares_}) array->assign(all, 0.0f);
  }

  Demands demands() const override {
    return {.input_in_backward = true, .scratch_bytes = size_of_sample(y_).size() * sizeof(float)};
  }

  void prepare(const Call& call, bool) override {
    weight_ = call.parameters + site_.places.parameter[0];
    v_ = call.parameters + site_.places.parameter[2];
    std::copy_n(call.parameters + site_.places.parameter[1], x_.shape.channels, bias_.data());
  }

  void forward(const Call& call, std::byte* scratch) override {
    const ImageSize size = size_of_sample(y_);
    const Image<float> t{reinterpret_cast<float*>(scratch), size.columns * size.channels};
    for (std::size_t n = 0; n < call.count; ++n) {
      measure(n);
      const float s = x_.scales[n];
      for (std::size_t c = 0; c < x_.shape.channels; ++c) {
        factor_[c] = weight_[c] * spread_[c / members_] * s;
      }
      Image<const std::int8_t> residual{};
      if (site_.residual) residual = const_image_of(*site_.residual, n);
      const float m = backend::cpu::gate_forward(const_image_of(x_, n), size, gate_.data(),
                                                 factor_.data(), bias_.data(), residual,
                                                 site_.residual ? site_.residual->scales[n] : 0, t);
      store(constant(t), m, false, y_, n);
    }
  }

  void backward(const Call& call, std::byte*) override {
    const ImageSize size = size_of_sample(x_);
    float* dy = y_.collect();
    pass_to_residual(site_);
    float* dx = x_.wants_gradient() ? x_.next_gradient() : nullptr;
    for (std::size_t n = 0; n < call.count; ++n) {
      measure(n);
      const Image<const std::int8_t> q = const_image_of(x_, n);
      const Image<const float> g = constant(gradient_of(y_, dy, n));
      backend::cpu::gate_sums(q, g, size, gate_.data(), sum_.data(), product_.data(),
                              square_.data());
      add_parameter_gradients(call.gradient, n);
      if (dx == nullptr) continue;
      for (std::size_t c = 0; c < x_.shape.channels; ++c) {
        factor_[c] = weight_[c] * spread_[c / members_];
      }
      const Image<float> d = gradient_of(x_, dx, n);
      backend::cpu::gate_backward(q, g, size, gate_.data(), factor_.data(), d);
      share_among_extremes(n);
      backend::cpu::add_at_extremes(
          q, size, length_, {high_.data(), low_.data(), high_shares_.data(), low_shares_.data()},
          d);
    }
  }

 private:
  /// The factors n and S of sample n. Afterwards the arrays of pieces have the extremes of their
  /// runs and how often these occur in the run.
  void measure(std::size_t n) {
    backend::cpu::find_extremes(const_image_of(x_, n), size_of_sample(x_), length_,
                                {high_.data(), low_.data(), highs_.data(), lows_.data()});
    const float s = x_.scales[n];
    for (std::size_t c = 0; c < x_.shape.channels; ++c) gate_[c] = v_[c] * s / 6;
    for (std::size_t group = 0; group < groups_; ++group) {
      std::int32_t total = 0;
      for (std::size_t run = 0; run < RangeEvoNorm::kRuns; ++run) {
        std::int8_t high = -128, low = 127;
        std::int32_t highs = 0, lows = 0;
        for_each_piece(group, run, [&](std::size_t i) {
          high = std::max(high, high_[i]);
          low = std::min(low, low_[i]);
        });
        for_each_piece(group, run, [&](std::size_t i) {
          if (high_[i] == high) highs += highs_[i];
          if (low_[i] == low) lows += lows_[i];
        });
        for_each_piece(group, run, [&](std::size_t i) {
          high_[i] = high;
          low_[i] = low;
          highs_[i] = highs;
          lows_[i] = lows;
        });
        total += high - low;
      }
      spread_[group] = 1 / (kappa_ * s * static_cast<float>(total) * 0.0625f +
                            static_cast<float>(RangeEvoNorm::kEpsilon));
    }
  }

  void add_parameter_gradients(float* gradient, std::size_t n) const {
    const auto s = static_cast<double>(x_.scales[n]);
    for (std::size_t c = 0; c < x_.shape.channels; ++c) {
      const auto spread = static_cast<double>(spread_[c / members_]);
      const double d[] = {spread * s * product_[c], sum_[c],
                          static_cast<double>(weight_[c]) * spread * s * s / 6 * square_[c]};
      for (std::size_t k = 0; k < 3; ++k) {
        gradient[site_.places.parameter[k] + c] += static_cast<float>(d[k]);
      }
    }
  }

  void share_among_extremes(std::size_t n) {
    const auto s = static_cast<double>(x_.scales[n]);
    for (std::size_t group = 0; group < groups_; ++group) {
      double ds = 0;
      for (std::size_t c = group * members_; c < (group + 1) * members_; ++c) {
        ds += static_cast<double>(weight_[c]) * s * product_[c];
      }
      const auto spread = static_cast<double>(spread_[group]);
      const auto d = static_cast<float>(-static_cast<double>(kappa_) * spread * spread * ds /
                                        RangeEvoNorm::kRuns);
      for (std::size_t run = 0; run < RangeEvoNorm::kRuns; ++run) {
        for_each_piece(group, run, [&](std::size_t i) {
          high_shares_[i] = d / static_cast<float>(highs_[i]);
          low_shares_[i] = -d / static_cast<float>(lows_[i]);
        });
      }
    }
  }

  /// body(i) with the place in the arrays of every piece of a group's run.
  template <class Body>
  void for_each_piece(std::size_t group, std::size_t run, const Body& body) const {
    const std::size_t each = run_ / length_;
    for (std::size_t k = run * each; k < (run + 1) * each; ++k) {
      body(k % pieces_ * channels_of(x_) + group * members_ + k / pieces_);
    }
  }

  Site site_;
  Tensor& x_;
  Tensor& y_;
  std::size_t members_, groups_;       ///< channels of a group, groups
  std::size_t run_, length_, pieces_;  ///< values of a run and of a piece; pieces of a channel
  float kappa_;
  const float* weight_ = nullptr;
  const float* v_ = nullptr;
  std::vector<float> spread_;                ///< S, per group
  std::vector<float> gate_, factor_, bias_;  ///< per channel
  std::vector<double> sum_, product_, square_;
  std::vector<std::int8_t> high_, low_;  ///< per piece and channel
  std::vector<std::int32_t> highs_, lows_;
  std::vector<float> high_shares_, low_shares_;
};

}  // namespace

std::unique_ptr<Step> make_range_evo_norm(const RangeEvoNorm& norm, const Site& site) {
  return std::make_unique<RangeNormStep>(norm, site);
}

}  // namespace hearsay::engine::cpu::int8
