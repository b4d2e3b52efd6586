#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/reference_step.h"

namespace hearsay::model {

namespace {

/// Flat indices of entries that share their statistics.
using Set = std::vector<std::size_t>;

/// One set per sample and group of channels, entries in the order channel, row, column.
std::vector<Set> group_sets(const Step& step, std::size_t groups) {
  const std::size_t size = step.in.size() / groups;
  std::vector<Set> sets(step.batch * groups, Set(size));
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (std::size_t i = 0; i < size; ++i) sets[s][i] = s * size + i;
  }
  return sets;
}

std::size_t channel_of(const Step& step, std::size_t i) {
  return i / step.in.pixels() % step.in.channels;
}

/// One set per channel.
std::vector<Set> channel_sets(const Step& step) {
  std::vector<Set> sets(step.in.channels);
  for (std::size_t i = 0; i < step.x[0].size(); ++i) sets[channel_of(step, i)].push_back(i);
  return sets;
}

double mean_of(std::span<const double> x, const Set& set) {
  double sum = 0;
  for (std::size_t i : set) sum += x[i];
  return sum / static_cast<double>(set.size());
}

double variance_of(std::span<const double> x, const Set& set) {
  const double mean = mean_of(x, set);
  double sum = 0;
  for (std::size_t i : set) sum += (x[i] - mean) * (x[i] - mean);
  return sum / static_cast<double>(set.size());
}

// ---- y = w (x - m) / sqrt(v + epsilon) + b, w and b indexed by parameter_of ----

constexpr double kEpsilon = BatchNorm::kEpsilon;
static_assert(GroupNorm::kEpsilon == kEpsilon && LayerNorm::kEpsilon == kEpsilon);

using ParameterOf = std::size_t(const Step&, std::size_t entry);

std::size_t feature_of(const Step& step, std::size_t i) { return i % step.in.size(); }

void normalize(Step& step, const Set& set, double mean, double variance,
               ParameterOf* parameter_of) {
  for (std::size_t i : set) {
    const std::size_t p = parameter_of(step, i);
    step.y[i] =
        step.w[0][p] * (step.x[0][i] - mean) / std::sqrt(variance + kEpsilon) + step.w[1][p];
  }
}

void normalize_sets(Step& step, const std::vector<Set>& sets, ParameterOf* parameter_of) {
  for (const Set& set : sets) {
    normalize(step, set, mean_of(step.x[0], set), variance_of(step.x[0], set), parameter_of);
  }
}

/// With z = (x - m) r, r = 1 / sqrt(v + epsilon), and g = w dy:
/// dx = r (g - mean(g) - z mean(g z)), means over the set.
void pull_back_sets(Step& step, const std::vector<Set>& sets, ParameterOf* parameter_of) {
  for (const Set& set : sets) {
    const double mean = mean_of(step.x[0], set);
    const double r = 1 / std::sqrt(variance_of(step.x[0], set) + kEpsilon);
    const double n = static_cast<double>(set.size());
    double mean_g = 0, mean_gz = 0;
    for (std::size_t i : set) {
      const std::size_t p = parameter_of(step, i);
      const double z = (step.x[0][i] - mean) * r, g = step.w[0][p] * step.dy[i];
      mean_g += g / n;
      mean_gz += g * z / n;
      step.dw[0][p] += step.dy[i] * z;
      step.dw[1][p] += step.dy[i];
    }
    for (std::size_t i : set) {
      const double z = (step.x[0][i] - mean) * r;
      const double g = step.w[0][parameter_of(step, i)] * step.dy[i];
      step.dx[0][i] += r * (g - mean_g - z * mean_gz);
    }
  }
}

// ---- y = w x s(v x) r + b, r a function of the set ----

/// r and its derivative with respect to each entry of the set.
struct Scale {
  double r = 0;
  Doubles slope;
};

Scale scale_of(const EvoNorm&, std::span<const double> x, const Set& set) {
  const double mean = mean_of(x, set), n = static_cast<double>(set.size());
  Scale scale{.r = 1 / std::sqrt(variance_of(x, set) + EvoNorm::kEpsilon), .slope = {}};
  for (std::size_t i : set) scale.slope.push_back(-std::pow(scale.r, 3) * (x[i] - mean) / n);
  return scale;
}

Scale scale_of(const RangeEvoNorm&, std::span<const double> x, const Set& set) {
  constexpr std::size_t kRuns = RangeEvoNorm::kRuns;
  const std::size_t m = set.size() / kRuns;
  const double kappa = 0.175 * (1 + std::sqrt(std::numbers::pi * std::log(4.0))) /
                       std::sqrt(2 * std::log(static_cast<double>(m)));
  double range = 0;
  Doubles slope(set.size());  // of the range, at first
  for (std::size_t run = 0; run < kRuns; ++run) {
    const auto value = [&](std::size_t i) { return x[set[i]]; };
    double most = value(run * m), least = most, highs = 0, lows = 0;
    for (std::size_t i = run * m; i < (run + 1) * m; ++i) {
      most = std::max(most, value(i));
      least = std::min(least, value(i));
    }
    range += (most - least) / kRuns;
    for (std::size_t i = run * m; i < (run + 1) * m; ++i) {
      highs += value(i) == most;
      lows += value(i) == least;
    }
    for (std::size_t i = run * m; i < (run + 1) * m; ++i) {
      if (value(i) == most) slope[i] += 1.0 / kRuns / highs;
      if (value(i) == least) slope[i] -= 1.0 / kRuns / lows;
    }
  }
  const double r = 1 / (kappa * range + RangeEvoNorm::kEpsilon);
  for (double& entry : slope) entry *= -r * r * kappa;
  return {r, slope};
}

/// s and ds/dt at t = v x.
struct Gated {
  double s, slope;
};
Gated logistic(double t) {
  const double s = 1 / (1 + std::exp(-t));
  return {s, s * (1 - s)};
}
Gated gate_of(const EvoNorm&, double t) { return logistic(t); }
Gated gate_of(const RangeEvoNorm& norm, double t) {
  if (norm.gate == Gate::kSigmoid) return logistic(t);
  const double line = t / 6 + 0.5;
  return {std::clamp(line, 0.0, 1.0), line >= 0 && line <= 1 ? 1.0 / 6 : 0};
}

template <class Norm>
void forward_activated(const Norm& norm, Step& step) {
  for (const Set& set : group_sets(step, norm.groups)) {
    const Scale scale = scale_of(norm, step.x[0], set);
    for (std::size_t i : set) {
      const std::size_t c = channel_of(step, i);
      const double x = step.x[0][i];
      step.y[i] = step.w[0][c] * x * gate_of(norm, step.w[2][c] * x).s * scale.r + step.w[1][c];
    }
  }
}

template <class Norm>
void backward_activated(const Norm& norm, Step& step) {
  for (const Set& set : group_sets(step, norm.groups)) {
    const Scale scale = scale_of(norm, step.x[0], set);
    double dr = 0;
    for (std::size_t i : set) {
      const std::size_t c = channel_of(step, i);
      const double x = step.x[0][i], w = step.w[0][c], v = step.w[2][c], dy = step.dy[i];
      const auto [s, slope] = gate_of(norm, v * x);
      step.dw[0][c] += dy * x * s * scale.r;
      step.dw[1][c] += dy;
      step.dw[2][c] += dy * w * x * x * slope * scale.r;
      step.dx[0][i] += dy * w * scale.r * (s + x * v * slope);
      dr += dy * w * x * s;
    }
    for (std::size_t k = 0; k < set.size(); ++k) step.dx[0][set[k]] += dr * scale.slope[k];
  }
}

}  // namespace

void forward(const BatchNorm&, Step& step) {
  const std::vector<Set> sets = channel_sets(step);
  for (std::size_t c = 0; c < sets.size(); ++c) {
    double mean = step.buffers[0][c], variance = step.buffers[1][c];
    if (step.training) {
      const double n = static_cast<double>(sets[c].size());
      mean = mean_of(step.x[0], sets[c]);
      variance = variance_of(step.x[0], sets[c]);
      const double unbiased = n > 1 ? variance * n / (n - 1) : 0;
      step.buffers[0][c] += step.momentum * (mean - step.buffers[0][c]);
      step.buffers[1][c] += step.momentum * (unbiased - step.buffers[1][c]);
    }
    normalize(step, sets[c], mean, variance, channel_of);
  }
}
void backward(const BatchNorm&, Step& step) {
  pull_back_sets(step, channel_sets(step), channel_of);
}

void forward(const GroupNorm& norm, Step& step) {
  normalize_sets(step, group_sets(step, norm.groups), channel_of);
}
void backward(const GroupNorm& norm, Step& step) {
  pull_back_sets(step, group_sets(step, norm.groups), channel_of);
}

void forward(const LayerNorm&, Step& step) {
  normalize_sets(step, group_sets(step, 1), feature_of);
}
void backward(const LayerNorm&, Step& step) {
  pull_back_sets(step, group_sets(step, 1), feature_of);
}

void forward(const EvoNorm& norm, Step& step) { forward_activated(norm, step); }
void backward(const EvoNorm& norm, Step& step) { backward_activated(norm, step); }
void forward(const RangeEvoNorm& norm, Step& step) { forward_activated(norm, step); }
void backward(const RangeEvoNorm& norm, Step& step) { backward_activated(norm, step); }

}  // namespace hearsay::model
