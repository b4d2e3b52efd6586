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
        magnitudes_(kChunk),
        spread_(kChunk * groups_),
        entries_(pieces_ * channels_of(x_)),
        bias_(channels_of(x_), 0.0f),
        lanes_(site.lanes.count()) {
    const std::size_t width = channels_of(x_);
    for (auto* array : {&sum_, &product_, &square_}) array->assign(kChunk * width, 0.0);
    for (auto* array : {&high_, &low_}) array->assign(kChunk * entries_, 0);
    for (OfLane& own : lanes_) {
      for (auto* array : {&own.gate, &own.factor}) array->assign(width, 0.0f);
      for (auto* array : {&own.highs, &own.lows}) array->assign(entries_, 0);
      for (auto* array : {&own.high_shares, &own.low_shares}) array->assign(entries_, 0.0f);
    }
  }

  /// An output without a residual depends on the input alone.
  Demands demands() const override {
    return {.input_in_backward = true, .output_is_cheap = site_.residual == nullptr};
  }
  std::size_t bytes() const override {
    const std::size_t per_entry =
        2 * (kChunk + lanes_.size() * (sizeof(std::int32_t) + sizeof(float)));
    const std::size_t per_channel =
        (1 + 2 * lanes_.size()) * sizeof(float) + 3 * kChunk * sizeof(double);
    return entries_ * per_entry + bias_.size() * per_channel + spread_.size() * sizeof(float);
  }

  void prepare(const Call& call, bool) override {
    weight_ = call.parameters + site_.places.parameter[0];
    v_ = call.parameters + site_.places.parameter[2];
    std::copy_n(call.parameters + site_.places.parameter[1], x_.shape.channels, bias_.data());
  }

  void forward(const Call& call, std::byte*) override {
    for_samples(call, [&](std::size_t lane, std::size_t n) {
      measure(n);
      const backend::cpu::GateInput in = input(lanes_[lane], n);
      magnitudes_[n] = backend::cpu::gate_magnitude(in);
      y_.scales[n] = scale_of(magnitudes_[n], 1, kTop8);
      store(in, n);
    });
  }

  void recompute(const Call& call) override {
    for_samples(call, [&](std::size_t lane, std::size_t n) { store(input(lanes_[lane], n), n); });
  }

  void backward(const Call& call, std::byte*) override {
    const ImageSize size = size_of_sample(x_);
    const std::size_t width = channels_of(x_);
    float* dy = collect(site_.lanes, y_);
    pass_to_residual(site_);
    float* dx = x_.wants_gradient() ? x_.next_gradient() : nullptr;
    for_samples(call, [&](std::size_t lane, std::size_t n) {
      OfLane& own = lanes_[lane];
      set_gate(own, n);
      const Image<const std::int8_t> q = const_image_of(x_, n);
      const Image<const float> g = constant(gradient_of(y_, dy, n));
      backend::cpu::gate_sums(q, g, size, own.gate.data(), sum_.data() + n * width,
                              product_.data() + n * width, square_.data() + n * width);
      if (dx == nullptr) return;
      for (std::size_t c = 0; c < x_.shape.channels; ++c) {
        own.factor[c] = weight_[c] * spread(n, c / members_);
      }
      share_among_extremes(own, n);
      backend::cpu::gate_backward(q, g, size, own.gate.data(), own.factor.data(),
                                  {.length = length_,
                                   .high = high_of(n),
                                   .low = low_of(n),
                                   .at_high = own.high_shares.data(),
                                   .at_low = own.low_shares.data()},
                                  gradient_of(x_, dx, n));
    });
    for (std::size_t n = 0; n < call.count; ++n) add_parameter_gradients(call.gradient, n);
  }

 private:
  /// What a lane computes with, for one sample: per channel, then per piece and channel.
  struct OfLane {
    std::vector<float> gate, factor;
    std::vector<std::int32_t> highs, lows;
    std::vector<float> high_shares, low_shares;
  };

  template <class Body>
  void for_samples(const Call& call, const Body& body) const {
    for_each_sample(site_.lanes, call, size_of_sample(x_).size(), body);
  }

  /// [piece * channels + c]: the extremes of the run to which the piece belongs. From forward to
  /// backward of a chunk.
  std::int8_t* high_of(std::size_t n) { return high_.data() + n * entries_; }
  std::int8_t* low_of(std::size_t n) { return low_.data() + n * entries_; }
  /// S of a group; likewise.
  float& spread(std::size_t n, std::size_t group) { return spread_[n * groups_ + group]; }
  float spread(std::size_t n, std::size_t group) const { return spread_[n * groups_ + group]; }

  /// Sets the arrays that it points to.
  backend::cpu::GateInput input(OfLane& own, std::size_t n) {
    set_gate(own, n);
    const float s = x_.scales[n];
    for (std::size_t c = 0; c < x_.shape.channels; ++c) {
      own.factor[c] = weight_[c] * spread(n, c / members_) * s;
    }
    backend::cpu::GateInput in{.q = const_image_of(x_, n),
                               .size = size_of_sample(y_),
                               .n = own.gate.data(),
                               .a = own.factor.data(),
                               .bias = bias_.data()};
    if (site_.residual) {
      in.residual = const_image_of(*site_.residual, n);
      in.residual_scale = site_.residual->scales[n];
    }
    return in;
  }

  void store(const backend::cpu::GateInput& in, std::size_t n) {
    backend::cpu::gate_codes(in, factor_of(magnitudes_[n], kTop8), image_of(y_, n));
    clear_border(y_, n);
  }

  void set_gate(OfLane& own, std::size_t n) const {
    for (std::size_t c = 0; c < x_.shape.channels; ++c) own.gate[c] = v_[c] * x_.scales[n] / 6;
  }

  /// The extremes and S of sample n.
  void measure(std::size_t n) {
    std::int8_t *high = high_of(n), *low = low_of(n);
    backend::cpu::find_extremes(const_image_of(x_, n), size_of_sample(x_), length_, high, low);
    for (std::size_t group = 0; group < groups_; ++group) {
      std::int32_t total = 0;
      for_each_run(group, [&](auto for_each_piece) {
        std::int8_t most = -128, least = 127;
        for_each_piece([&](std::size_t i) {
          most = std::max(most, high[i]);
          least = std::min(least, low[i]);
        });
        for_each_piece([&](std::size_t i) {
          high[i] = most;
          low[i] = least;
        });
        total += most - least;
      });
      spread(n, group) = 1 / (kappa_ * x_.scales[n] * static_cast<float>(total) * 0.0625f +
                              static_cast<float>(RangeEvoNorm::kEpsilon));
    }
  }

  void add_parameter_gradients(float* gradient, std::size_t n) const {
    const auto s = static_cast<double>(x_.scales[n]);
    const std::size_t first = n * channels_of(x_);
    for (std::size_t c = 0; c < x_.shape.channels; ++c) {
      const auto of_group = static_cast<double>(spread(n, c / members_));
      const double d[] = {
          of_group * s * product_[first + c], sum_[first + c],
          static_cast<double>(weight_[c]) * of_group * s * s / 6 * square_[first + c]};
      for (std::size_t k = 0; k < 3; ++k) {
        gradient[site_.places.parameter[k] + c] += static_cast<float>(d[k]);
      }
    }
  }

  /// The gradient of S, shared by the extremes.
  void share_among_extremes(OfLane& own, std::size_t n) {
    const auto s = static_cast<double>(x_.scales[n]);
    backend::cpu::count_extremes(const_image_of(x_, n), size_of_sample(x_), length_, high_of(n),
                                 low_of(n), own.highs.data(), own.lows.data());
    for (std::size_t group = 0; group < groups_; ++group) {
      double ds = 0;
      for (std::size_t c = group * members_; c < (group + 1) * members_; ++c) {
        ds += static_cast<double>(weight_[c]) * s * product_[n * channels_of(x_) + c];
      }
      const auto of_group = static_cast<double>(spread(n, group));
      const auto d = static_cast<float>(-static_cast<double>(kappa_) * of_group * of_group * ds /
                                        RangeEvoNorm::kRuns);
      for_each_run(group, [&](auto for_each_piece) {
        std::int32_t highs = 0, lows = 0;
        for_each_piece([&](std::size_t i) {
          highs += own.highs[i];
          lows += own.lows[i];
        });
        for_each_piece([&](std::size_t i) {
          own.high_shares[i] = d / static_cast<float>(highs);
          own.low_shares[i] = -d / static_cast<float>(lows);
        });
      });
    }
  }

  /// body(for_each_piece) for the runs of a group, where for_each_piece(visit) calls visit(i) with
  /// the place in the arrays of every piece of the run. A run of one channel is often one piece.
  template <class Body>
  void for_each_run(std::size_t group, const Body& body) const {
    const std::size_t each = run_ / length_, channels = channels_of(x_);
    std::size_t piece = 0, channel = group * members_;
    for (std::size_t run = 0; run < RangeEvoNorm::kRuns; ++run) {
      const std::size_t first_piece = piece, first_channel = channel;
      body([&](const auto& visit) {
        piece = first_piece;
        channel = first_channel;
        for (std::size_t k = 0; k < each; ++k) {
          visit(piece * channels + channel);
          if (++piece == pieces_) {
            piece = 0;
            ++channel;
          }
        }
      });
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
  std::vector<float> magnitudes_;               ///< of the output, per sample of the chunk
  std::vector<float> spread_;                   ///< S, per sample of the chunk and group
  std::size_t entries_;                         ///< pieces of all channels
  std::vector<float> bias_;                     ///< per channel
  std::vector<double> sum_, product_, square_;  ///< per sample and channel
  std::vector<std::int8_t> high_, low_;         ///< per sample, piece and channel
  std::vector<OfLane> lanes_;
};

}  // namespace

std::unique_ptr<Step> make_range_evo_norm(const RangeEvoNorm& norm, const Site& site) {
  return std::make_unique<RangeNormStep>(norm, site);
}

}  // namespace hearsay::engine::cpu::int8
