#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "hearsay/engine/cpu/norm.h"

namespace hearsay::engine::cpu {

namespace {

using backend::cpu::Gate;
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
  /// ... and at single entries, after that line has been added: of the samples first .. first +
  /// count - 1, at x and dx.
  virtual void finish(const float* /*x*/, std::size_t /*first*/, std::size_t /*count*/,
                      float* /*dx*/) {}
};

struct Groups {
  Groups(const Tiles& t, std::size_t count, const Lanes& threads)
      : tiles(t), groups(count), members(t.channels / count), lanes(threads) {}

  std::size_t count() const { return tiles.samples * groups; }
  std::size_t values() const { return members * tiles.pixels; }

  /// body(first, count) for parts of the batch.
  template <class Body>
  void for_samples(const Body& body) const {
    lanes.for_samples(tiles.samples, tiles.sample_size(), body);
  }
  /// body(place) for all groups of the samples first .. first + count - 1.
  template <class Body>
  void for_places(std::size_t first, std::size_t count, const Body& body) const {
    for (std::size_t place = first * groups; place < (first + count) * groups; ++place) body(place);
  }

  Tiles tiles;
  std::size_t groups;
  std::size_t members;
  Lanes lanes;
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
    moments(groups_.lanes, x, groups_.tiles, mean_, square_);
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

/// s = 1 / (kappa R + epsilon); ds reaches the extremes of the 16 runs through dR = -kappa s^2 ds.
///
/// A run may begin and end within a channel, and span several. The loops work on pieces of
/// gcd(run, pixels) consecutive pixels of one channel, of which runs are made.
class Range final : public Spread {
 public:
  explicit Range(const Groups& groups)
      : groups_(groups),
        run_(groups.values() / RangeEvoNorm::kRuns),
        length_(std::gcd(run_, groups.tiles.pixels)),
        pieces_(groups.tiles.pixels / length_),
        high_(size()),
        low_(size()),
        highs_(size()),
        lows_(size()) {
    kappa_ = 0.175 * (1 + std::sqrt(std::numbers::pi * std::log(4.0))) /
             std::sqrt(2 * std::log(static_cast<double>(run_)));
  }

  /// Afterwards the arrays of pieces have the extremes of their runs, and the counts in these.
  void measure(const float* x, std::span<double> factor) override {
    groups_.for_samples([&](std::size_t first, std::size_t count) {
      backend::cpu::piece_extremes(x + first * groups_.tiles.sample_size(), groups_.tiles.of(count),
                                   length_, extremes(first));
      clear_padding(first, count);
      groups_.for_places(first, count, [&](std::size_t place) { factor[place] = merge(place); });
    });
  }

  /// Counts become the shares of the gradient.
  Line backward(std::size_t place, double s, double ds) override {
    const auto gradient = static_cast<float>(-kappa_ * s * s * ds / RangeEvoNorm::kRuns);
    for (std::size_t r = 0; r < RangeEvoNorm::kRuns; ++r) {
      for_each_piece(place, r, [&](std::size_t i) {
        highs_[i] = gradient / highs_[i];
        lows_[i] = -gradient / lows_[i];
      });
    }
    return {};
  }

  void finish(const float* x, std::size_t first, std::size_t count, float* dx) override {
    backend::cpu::add_at_extremes(x, groups_.tiles.of(count), length_, extremes(first), dx);
  }

 private:
  /// Gives the pieces of a group the extremes of their runs, and the counts in these; s.
  double merge(std::size_t place) {
    double range = 0;
    for (std::size_t r = 0; r < RangeEvoNorm::kRuns; ++r) {
      float high = -HUGE_VALF, low = HUGE_VALF, highs = 0, lows = 0;
      for_each_piece(place, r, [&](std::size_t i) {
        high = std::max(high, high_[i]);
        low = std::min(low, low_[i]);
      });
      for_each_piece(place, r, [&](std::size_t i) {
        if (high_[i] == high) highs += highs_[i];
        if (low_[i] == low) lows += lows_[i];
      });
      for_each_piece(place, r, [&](std::size_t i) {
        high_[i] = high;
        low_[i] = low;
        highs_[i] = highs;
        lows_[i] = lows;
      });
      range += static_cast<double>(high) - static_cast<double>(low);
    }
    return 1 / (kappa_ * range / RangeEvoNorm::kRuns + RangeEvoNorm::kEpsilon);
  }

  std::size_t size() const {
    return groups_.tiles.samples * pieces_ * groups_.tiles.padded_channels();
  }
  /// Of that sample, and of those after it.
  backend::cpu::Extremes extremes(std::size_t sample) {
    const std::size_t at = sample * pieces_ * groups_.tiles.padded_channels();
    return {high_.data() + at, low_.data() + at, highs_.data() + at, lows_.data() + at};
  }

  /// Padding has no part in a gradient.
  void clear_padding(std::size_t first, std::size_t count) {
    const std::size_t width = groups_.tiles.padded_channels(), each = pieces_ * width;
    for (std::size_t i = first * each; i < (first + count) * each; ++i) {
      if (i % width >= groups_.tiles.channels) highs_[i] = lows_[i] = 0;
    }
  }

  /// body(i) with the place in the arrays of every piece of run r of a sample's group.
  template <class Body>
  void for_each_piece(std::size_t place, std::size_t r, const Body& body) const {
    const std::size_t n = place / groups_.groups, first = place % groups_.groups * groups_.members,
                      each = run_ / length_;
    for (std::size_t q = r * each; q < (r + 1) * each; ++q) {
      body((n * pieces_ + q % pieces_) * groups_.tiles.padded_channels() + first + q / pieces_);
    }
  }

  Groups groups_;
  std::size_t run_, length_, pieces_;  ///< values of a run and of a piece; pieces of a channel
  double kappa_;
  std::vector<float> high_, low_, highs_, lows_;
};

/// y = weight_c h s + bias_c (+ residual), h = x gate(v_c x), s of the sample's group. With g the
/// gradient of y, and for a channel S1 = sum of g, S2 = sum of g h, S3 = sum of g dh/dv:
///
///   d bias_c = sum over samples of S1,   d weight_c = of s S2,   d v_c = of weight_c s S3,
///   ds = sum over the group's channels of weight_c S2,   dx = weight_c s g dh/dx + (through s)
class EvoStep final : public Step {
 public:
  EvoStep(std::size_t groups, Gate gate, std::unique_ptr<Spread> spread, const Site& site)
      : site_(site),
        groups_(site.x->tiles, groups, site.lanes),
        gate_(gate),
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
    const float* residual = site_.residual ? site_.residual->data() : nullptr;
    groups_.for_samples([&](std::size_t first, std::size_t count) {
      const std::size_t at = first * tiles().sample_size();
      backend::cpu::evo(site_.x->data() + at, tiles().of(count), gate_, v_.from(first),
                        scale_.from(first), offset_.from(first), residual ? residual + at : nullptr,
                        site_.y->data() + at);
    });
  }

  void backward(const Call& call, std::byte*) override {
    const float* g = collect(site_.lanes, *site_.y);
    const float* x = site_.x->data();
    const float* weight = call.parameters + site_.places.parameter[0];
    const std::size_t channels = tiles().channels;
    groups_.for_samples([&](std::size_t first, std::size_t count) {
      const std::size_t at = first * tiles().sample_size();
      backend::cpu::evo_sums(x + at, g + at, tiles().of(count), gate_, v_.from(first),
                             first_.of(first), second_.of(first), third_.of(first));
    });
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
    float* dx = site_.x->next_gradient();
    groups_.for_samples([&](std::size_t first, std::size_t count) {
      groups_.for_places(first, count, [&](std::size_t place) { set_line(place, ds[place]); });
      const std::size_t at = first * tiles().sample_size();
      backend::cpu::evo_backward(g + at, x + at, tiles().of(count), gate_, v_.from(first),
                                 scale_.from(first), b_.from(first), c_.from(first), dx + at);
      spread_->finish(x + at, first, count, dx + at);
    });
  }

 private:
  const Tiles& tiles() const { return groups_.tiles; }

  /// The contribution of the gradient of s to a sample's group.
  void set_line(std::size_t place, double ds) {
    const std::size_t n = place / groups_.groups, first = place % groups_.groups * groups_.members;
    const Spread::Line line = spread_->backward(place, factor_[place], ds);
    for (std::size_t c = first; c < first + groups_.members; ++c) {
      b_.at(n, c) = static_cast<float>(line.b);
      c_.at(n, c) = static_cast<float>(line.c);
    }
  }

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
  Gate gate_;
  std::unique_ptr<Spread> spread_;
  std::vector<double> factor_;
  ChannelArray v_, offset_, scale_, b_, c_;
  ChannelArray first_, second_, third_;
  std::vector<double> gradients_, spread_gradient_;
};

template <class Kind>
std::unique_ptr<Step> make(std::size_t groups, Gate gate, const Site& site) {
  return std::make_unique<EvoStep>(
      groups, gate, std::make_unique<Kind>(Groups(site.x->tiles, groups, site.lanes)), site);
}

}  // namespace

std::unique_ptr<Step> make_evo_norm(const model::EvoNorm& norm, const Site& site) {
  return make<Variance>(norm.groups, Gate::kLogistic, site);
}

std::unique_ptr<Step> make_range_evo_norm(const model::RangeEvoNorm& norm, const Site& site) {
  const bool hard = norm.gate == model::Gate::kHard;
  return make<Range>(norm.groups, hard ? Gate::kHard : Gate::kLogistic, site);
}

}  // namespace hearsay::engine::cpu
