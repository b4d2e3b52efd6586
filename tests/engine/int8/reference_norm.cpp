#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/int8/reference_step.h"

/// Range EvoNorm with a hard gate, a group of channels of a sample at a time.
namespace hearsay::engine::reference8 {

namespace {

constexpr std::size_t kRuns = 16;

/// The values of a group are consecutive: those of its channels, row by row.
struct Group {
  std::size_t n, first, last;  ///< the sample, the channels
  std::size_t begin;           ///< its first value
  std::size_t run;             ///< values of a run
  float kappa, inverse;        ///< S = 1 / (kappa R + epsilon)
};

template <class Visit>
void visit_groups(const model::RangeEvoNorm& norm, const Step& step, Visit visit) {
  const Value& x = *step.x;
  const std::size_t channels = x.shape.channels / norm.groups, pixels = x.shape.pixels();
  const std::size_t run = channels * pixels / kRuns;
  const double kappa = 0.175 * (1 + std::sqrt(std::numbers::pi * std::log(4.0))) /
                       std::sqrt(2 * std::log(static_cast<double>(run)));
  for (std::size_t k = 0; k < step.batch * norm.groups; ++k) {
    const std::size_t n = k / norm.groups, first = k % norm.groups * channels;
    Group group{.n = n,
                .first = first,
                .last = first + channels,
                .begin = n * x.size() + first * pixels,
                .run = run,
                .kappa = static_cast<float>(kappa),
                .inverse = 0};
    std::int64_t ranges = 0;
    for (std::size_t r = 0; r < kRuns; ++r) {
      const std::int64_t* q = x.q.data() + group.begin + r * run;
      ranges += *std::max_element(q, q + run) - *std::min_element(q, q + run);
    }
    group.inverse = 1 / (group.kappa * x.s[n] * static_cast<float>(ranges) * 0.0625f + 1e-5f);
    visit(group);
  }
}

/// n q + 1/2, and the gate.
struct Gate {
  Gate(float line, float q)
      : at(line * q + 0.5f), t(std::min(std::max(at, 0.0f), 1.0f)), inside(at >= 0 && at <= 1) {}
  float at, t;
  bool inside;
};

/// Over the pixels of a channel, of g, g (q t) and, inside, (g q) q: in float along a row of
/// pixels, in double over the rows.
struct Sums {
  double plain = 0, product = 0, square = 0;
};

/// The gradient of x but for that of S, and the sums, of the channel whose values begin at `begin`.
Sums pass_gate(const Value& x, std::size_t begin, float line, float factor, const Floats& g,
               Floats& dx) {
  Sums sums;
  std::size_t e = begin;
  for (std::size_t row = 0; row < x.shape.height; ++row) {
    float plain = 0, product = 0, square = 0;
    for (std::size_t column = 0; column < x.shape.width; ++column, ++e) {
      const auto q = static_cast<float>(x.q[e]);
      const Gate gate(line, q);
      plain += g[e];
      product += g[e] * (q * gate.t);
      square += gate.inside ? g[e] * q * q : 0.0f;
      dx[e] = factor * g[e] * (gate.inside ? gate.t + line * q : gate.t);
    }
    sums.plain += static_cast<double>(plain);
    sums.product += static_cast<double>(product);
    sums.square += static_cast<double>(square);
  }
  return sums;
}

/// A run's maximum gets `share` and its minimum the opposite, or equal parts of it for equal codes.
void add_at_extremes(const std::int64_t* q, std::size_t count, float share, float* dx) {
  const std::int64_t high = *std::max_element(q, q + count), low = *std::min_element(q, q + count);
  const auto highs = static_cast<float>(std::count(q, q + count, high));
  const auto lows = static_cast<float>(std::count(q, q + count, low));
  for (std::size_t i = 0; i < count; ++i) {
    const float more = q[i] == high ? share / highs : 0.0f;
    const float less = q[i] == low ? -share / lows : 0.0f;
    dx[i] += more + less;
  }
}

}  // namespace

void forward(const model::RangeEvoNorm& norm, Step& step) {
  const Value& x = *step.x;
  const std::size_t pixels = x.shape.pixels();
  Floats y(x.q.size());
  visit_groups(norm, step, [&](const Group& group) {
    const float s = x.s[group.n];
    for (std::size_t c = group.first; c < group.last; ++c) {
      const float a = step.w[0][c] * group.inverse * s, line = step.w[2][c] * s / 6;
      for (std::size_t p = 0; p < pixels; ++p) {
        const std::size_t e = group.n * x.size() + c * pixels + p;
        const auto q = static_cast<float>(x.q[e]);
        y[e] = a * q * Gate(line, q).t + step.w[1][c];
        if (step.residual == nullptr) continue;
        y[e] += static_cast<float>(step.residual->q[e]) * step.residual->s[group.n];
      }
    }
  });
  quantize(y, step, *step.y);
}

void backward(const model::RangeEvoNorm& norm, Step& step, const Floats& g) {
  const Value& x = *step.x;
  Floats dx(g.size());
  visit_groups(norm, step, [&](const Group& group) {
    const auto inverse = static_cast<double>(group.inverse);
    const auto s = static_cast<double>(x.s[group.n]), kappa = static_cast<double>(group.kappa);
    double of_inverse = 0;  // the gradient of S
    for (std::size_t c = group.first; c < group.last; ++c) {
      const auto weight = static_cast<double>(step.w[0][c]);
      const Sums sums =
          pass_gate(x, group.n * x.size() + c * x.shape.pixels(), step.w[2][c] * x.s[group.n] / 6,
                    step.w[0][c] * group.inverse, g, dx);
      step.dw[0][c] += static_cast<float>(inverse * s * sums.product);
      step.dw[1][c] += static_cast<float>(sums.plain);
      step.dw[2][c] += static_cast<float>(weight * inverse * s * s / 6 * sums.square);
      of_inverse += weight * s * sums.product;
    }
    const auto share = static_cast<float>(-kappa * inverse * inverse * of_inverse / kRuns);
    for (std::size_t r = 0; r < kRuns; ++r) {
      const std::size_t begin = group.begin + r * group.run;
      add_at_extremes(x.q.data() + begin, group.run, share, dx.data() + begin);
    }
  });
  step.x->add_gradient(dx);
}

}  // namespace hearsay::engine::reference8
