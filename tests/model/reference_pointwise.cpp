#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/reference_step.h"

namespace hearsay::model {

namespace {

/// y_i = f(x_i).
template <class Function>
void map(Step& step, Function f) {
  for (std::size_t i = 0; i < step.y.size(); ++i) step.y[i] = f(step.x[0][i]);
}

/// dx_i += f'(x_i) dy_i.
template <class Function>
void pull_back(Step& step, Function slope) {
  for (std::size_t i = 0; i < step.dy.size(); ++i) {
    step.dx[0][i] += slope(step.x[0][i]) * step.dy[i];
  }
}

double normal_distribution(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double normal_density(double x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

/// 0 for a dropped entry, else 1 / (1 - rate); 1 if dropout is off.
double dropout_factor(const Dropout& dropout, const Step& step, std::size_t i) {
  const std::size_t size = step.in.size();
  if (!step.training || !*step.dropped) return 1;
  return (*step.dropped)(step.index, i / size, i % size) ? 0 : 1 / (1 - dropout.rate);
}

}  // namespace

void forward(const Linear& linear, Step& step) {
  const std::size_t in = step.in.channels;
  for (std::size_t b = 0; b < step.batch; ++b) {
    for (std::size_t o = 0; o < linear.out; ++o) {
      double sum = linear.bias ? step.w[1][o] : 0;
      for (std::size_t i = 0; i < in; ++i) sum += step.w[0][o * in + i] * step.x[0][b * in + i];
      step.y[b * linear.out + o] = sum;
    }
  }
}

void backward(const Linear& linear, Step& step) {
  const std::size_t in = step.in.channels;
  for (std::size_t b = 0; b < step.batch; ++b) {
    for (std::size_t o = 0; o < linear.out; ++o) {
      const double dy = step.dy[b * linear.out + o];
      if (linear.bias) step.dw[1][o] += dy;
      for (std::size_t i = 0; i < in; ++i) {
        step.dw[0][o * in + i] += dy * step.x[0][b * in + i];
        step.dx[0][b * in + i] += dy * step.w[0][o * in + i];
      }
    }
  }
}

void forward(const Relu&, Step& step) {
  map(step, [](double x) { return std::max(x, 0.0); });
}
void backward(const Relu&, Step& step) {
  pull_back(step, [](double x) { return x > 0 ? 1.0 : 0.0; });
}

void forward(const Gelu&, Step& step) {
  map(step, [](double x) { return x * normal_distribution(x); });
}
void backward(const Gelu&, Step& step) {
  pull_back(step, [](double x) { return normal_distribution(x) + x * normal_density(x); });
}

void forward(const Add&, Step& step) {
  for (std::size_t i = 0; i < step.y.size(); ++i) step.y[i] = step.x[0][i] + step.x[1][i];
}
void backward(const Add&, Step& step) {
  for (std::span<double> dx : step.dx) {
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] += step.dy[i];
  }
}

void forward(const Dropout& dropout, Step& step) {
  for (std::size_t i = 0; i < step.y.size(); ++i) {
    step.y[i] = step.x[0][i] * dropout_factor(dropout, step, i);
  }
}
void backward(const Dropout& dropout, Step& step) {
  for (std::size_t i = 0; i < step.dy.size(); ++i) {
    step.dx[0][i] += step.dy[i] * dropout_factor(dropout, step, i);
  }
}

void forward(const Flatten&, Step& step) { std::ranges::copy(step.x[0], step.y.begin()); }
void backward(const Flatten&, Step& step) {
  for (std::size_t i = 0; i < step.dy.size(); ++i) step.dx[0][i] += step.dy[i];
}

}  // namespace hearsay::model
