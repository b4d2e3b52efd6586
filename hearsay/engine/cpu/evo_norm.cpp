#include <array>
#include <cmath>
#include <numbers>

#include "hearsay/engine/cpu/norm.h"

namespace hearsay::engine::cpu {

namespace {

using backend::cpu::Tiles;
using model::EvoNorm;
using model::RangeEvoNorm;

/// The factor s of a sample's group, an inverse measure of the spread of its values, and its
/// gradient.
class Spread {
 public:
  virtual ~Spread() = default;

  /// factor[n * groups + g] = s.
  virtual void measure(const float* x, std::span<double> factor) = 0;

  /// The contribution of ds, the gradient of s, to dx: b x + c for the whole group ...
  struct Line {
    double b = 0, c = 0;
  };
  virtual Line backward(std::size_t place, double factor, double ds) = 0;
  /// ... and at single entries, after that line has been added.
  virtual void finish(float* /*dx*/) {}
};

struct Groups {
  Groups(const Tiles& t, std::size_t count)
      : tiles(t), groups(count), members(t.channels / count) {}

  std::size_t count() const { return tiles.samples * groups; }
  std::size_t values() const { return members * tiles.pixels; }

  Tiles tiles;
  std::size_t groups;
  std::size_t members;
};

/// s = 1 / sqrt(v + epsilon); ds reaches x through dv = -s^3 / 2 ds, dx = 2 (x - m) / M dv.
class Variance final : public Spread {
 public:
  explicit Variance(const Groups& groups)
      : groups_(groups),
        mean_(groups.tiles, true),
        square_(groups.tiles, true),
        group_mean_(groups.count()) {}

  void measure(const float* x, std::span<double> factor) override {
    backend::cpu::moments(x, groups_.tiles, mean_.data(), square_.data());
    for (std::size_t place = 0; place < groups_.count(); ++place) {
      const std::size_t n = place / groups_.groups,
                        first = place % groups_.groups * groups_.members;
      Moments all;
      for (std::size_t c = first; c < first + groups_.members; ++c) {
        all.add(static_cast<double>(groups_.tiles.pixels), static_cast<double>(mean_.at(n, c)),
                static_cast<double>(square_.at(n, c)));
      }
      group_mean_[place] = all.mean;
      factor[place] = 1 / std::sqrt(all.variance() + EvoNorm::kEpsilon);
    }
  }

  Line backward(std::size_t place, double s, double ds) override {
    const double b = -s * s * s * ds / static_cast<double>(groups_.values());
    return {b, -b * group_mean_[place]};
  }

 private:
  Groups groups_;
  ChannelArray mean_, square_;
  std::vector<double> group_mean_;
};

/// s = 1 / (kappa R + epsilon); ds reaches the 16 maxima and minima through dR = -kappa s^2 ds.
class Range final : public Spread {
 public:
  explicit Range(const Groups& groups) : groups_(groups), extremes_(groups.count()) {
    const double run = static_cast<double>(groups.values() / RangeEvoNorm::kRuns);
    kappa_ =
        0.175 * (1 + std::sqrt(std::numbers::pi * std::log(4.0))) / std::sqrt(2 * std::log(run));
  }

  void measure(const float* x, std::span<double> factor) override {
    const std::size_t run = groups_.values() / RangeEvoNorm::kRuns;
    for (std::size_t place = 0; place < groups_.count(); ++place) {
      const std::size_t n = place / groups_.groups,
                        first = place % groups_.groups * groups_.members;
      double range = 0;
      for (std::size_t r = 0; r < RangeEvoNorm::kRuns; ++r) {
        const auto at = [&](std::size_t k) {  // the k-th value of the run
          const std::size_t j = r * run + k;
          return groups_.tiles.at(n, first + j / groups_.tiles.pixels, j % groups_.tiles.pixels);
        };
        std::size_t high = at(0), low = high;
        for (std::size_t k = 1; k < run; ++k) {
          const std::size_t i = at(k);
          if (x[i] > x[high]) high = i;
          if (x[i] < x[low]) low = i;
        }
        extremes_[place].high[r] = high;
        extremes_[place].low[r] = low;
        range += static_cast<double>(x[high]) - static_cast<double>(x[low]);
      }
      factor[place] = 1 / (kappa_ * range / RangeEvoNorm::kRuns + RangeEvoNorm::kEpsilon);
    }
  }

  Line backward(std::size_t place, double s, double ds) override {
    extremes_[place].gradient = static_cast<float>(-kappa_ * s * s * ds / RangeEvoNorm::kRuns);
    return {};
  }

  void finish(float* dx) override {
    for (const Extremes& group : extremes_) {
      for (std::size_t r = 0; r < RangeEvoNorm::kRuns; ++r) {
        dx[group.high[r]] += group.gradient;
        dx[group.low[r]] -= group.gradient;
      }
    }
  }

 private:
  struct Extremes {
    std::array<std::size_t, RangeEvoNorm::kRuns> high, low;
    float gradient;  ///< of each maximum; minus that of each minimum
  };
  Groups groups_;
  double kappa_;
  std::vector<Extremes> extremes_;
};

/// y = weight_c h s + bias_c (+ residual), h = x sigma(v_c x), s of the sample's group. With g the
/// gradient of y, and for a channel S1 = sum of g, S2 = sum of g h, S3 = sum of g dh/dv:
///
///   d bias_c = sum over samples of S1,   d weight_c = of s S2,   d v_c = of weight_c s S3,
///   ds = sum over the group's channels of weight_c S2,   dx = weight_c s g dh/dx + (through s)
class EvoStep final : public Step {
 public:
  EvoStep(std::size_t groups, std::unique_ptr<Spread> spread, const Site& site)
      : site_(site),
        groups_(site.x->tiles, groups),
        spread_(std::move(spread)),
        factor_(groups_.count()),
        v_(tiles(), false),
        offset_(tiles(), false),
        scale_(tiles(), true),
        b_(tiles(), true),
        c_(tiles(), true),
        first_(tiles(), true),
        second_(tiles(), true),
        third_(tiles(), true),
        gradients_(3 * tiles().channels),
        spread_gradient_(groups_.count()) {}

  Demands demands() const override {
    return {.input_in_backward = true, .output_in_backward = false};
  }

  void forward(const Call& call, std::byte*) override {
    const float* weight = call.parameters + site_.places.parameter[0];
    std::copy_n(call.parameters + site_.places.parameter[1], tiles().channels, offset_.data());
    std::copy_n(call.parameters + site_.places.parameter[2], tiles().channels, v_.data());
    spread_->measure(site_.x->data(), factor_);
    for_each_channel([&](std::size_t n, std::size_t c, std::size_t place) {
      scale_.at(n, c) = static_cast<float>(static_cast<double>(weight[c]) * factor_[place]);
    });
    backend::cpu::evo(site_.x->data(), tiles(), v_, scale_, offset_,
                      site_.residual ? site_.residual->data() : nullptr, site_.y->data());
  }

  void backward(const Call& call, std::byte*) override {
    const float* g = site_.y->collect();
    const float* x = site_.x->data();
    const float* weight = call.parameters + site_.places.parameter[0];
    const std::size_t channels = tiles().channels;
    backend::cpu::evo_sums(x, g, tiles(), v_, first_.data(), second_.data(), third_.data());
    std::ranges::fill(gradients_, 0.0);
    std::vector<double>& ds = spread_gradient_;
    std::ranges::fill(ds, 0.0);
    for_each_channel([&](std::size_t n, std::size_t c, std::size_t place) {
      const double w = static_cast<double>(weight[c]), s = factor_[place];
      gradients_[c] += s * static_cast<double>(second_.at(n, c));
      gradients_[channels + c] += static_cast<double>(first_.at(n, c));
      gradients_[2 * channels + c] += w * s * static_cast<double>(third_.at(n, c));
      ds[place] += w * static_cast<double>(second_.at(n, c));
    });
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t k = 0; k < 3; ++k) {
        call.gradient[site_.places.parameter[k] + c] =
            static_cast<float>(gradients_[k * channels + c]);
      }
    }
    pass_to_residual(site_);
    if (!site_.x->wants_gradient()) return;
    for (std::size_t place = 0; place < groups_.count(); ++place) {
      const std::size_t n = place / groups_.groups,
                        first = place % groups_.groups * groups_.members;
      const Spread::Line line = spread_->backward(place, factor_[place], ds[place]);
      for (std::size_t c = first; c < first + groups_.members; ++c) {
        b_.at(n, c) = static_cast<float>(line.b);
        c_.at(n, c) = static_cast<float>(line.c);
      }
    }
    float* dx = site_.x->next_gradient();
    backend::cpu::evo_backward(g, x, tiles(), v_, scale_, b_, c_, dx);
    spread_->finish(dx);
  }

 private:
  const Tiles& tiles() const { return groups_.tiles; }

  template <class Body>
  void for_each_channel(const Body& body) const {
    for (std::size_t n = 0; n < tiles().samples; ++n) {
      for (std::size_t c = 0; c < tiles().channels; ++c) {
        body(n, c, n * groups_.groups + c / groups_.members);
      }
    }
  }

  Site site_;
  Groups groups_;
  std::unique_ptr<Spread> spread_;
  std::vector<double> factor_;
  ChannelArray v_, offset_, scale_, b_, c_;
  ChannelArray first_, second_, third_;
  std::vector<double> gradients_, spread_gradient_;
};

template <class Kind>
std::unique_ptr<Step> make(std::size_t groups, const Site& site) {
  return std::make_unique<EvoStep>(groups, std::make_unique<Kind>(Groups(site.x->tiles, groups)),
                                   site);
}

}  // namespace

std::unique_ptr<Step> make_evo_norm(const model::EvoNorm& norm, const Site& site) {
  return make<Variance>(norm.groups, site);
}

std::unique_ptr<Step> make_range_evo_norm(const model::RangeEvoNorm& norm, const Site& site) {
  return make<Range>(norm.groups, site);
}

}  // namespace hearsay::engine::cpu
