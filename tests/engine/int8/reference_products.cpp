#include <algorithm>
#include <cassert>
#include <cstdlib>

#include "engine/int8/reference_step.h"

/// Convolutions, and linear layers as convolutions of images of one pixel.
namespace hearsay::engine::reference8 {

namespace {

using model::Conv2d;

/// A convolution's loops: what meets, and where it is.
class Loops {
 public:
  Loops(const Conv2d& conv, const Step& step)
      : in_(step.x->shape),
        out_(step.y->shape),
        window_(slide(conv.kernel, conv.stride, conv.padding, in_, out_)) {}

  std::size_t weights() const { return out_.channels * in_.channels * window_.size(); }

  /// visit(weight, first entry of the input's channel, of the output's, meetings) for every weight.
  template <class Visit>
  void visit(std::size_t n, Visit visit) const {
    for (std::size_t o = 0; o < out_.channels; ++o) {
      for (std::size_t i = 0; i < in_.channels; ++i) {
        for (std::size_t t = 0; t < window_.size(); ++t) {
          visit((o * in_.channels + i) * window_.size() + t, n * in_.size() + i * in_.pixels(),
                n * out_.size() + o * out_.pixels(), window_[t]);
        }
      }
    }
  }

 private:
  model::Shape in_, out_;
  std::vector<std::vector<Meeting>> window_;
};

void expect_32_bits(const Integers& sums) {
  for (std::int64_t sum : sums) {
    assert(std::abs(sum) < std::int64_t{1} << 31);
    static_cast<void>(sum);
  }
}

/// The sums over all weights of w x, of every output.
Integers sums_of(const Loops& loops, const Step& step, const Weights& weights) {
  Integers sums(step.batch * step.y->size(), 0);
  for (std::size_t n = 0; n < step.batch; ++n) {
    loops.visit(n, [&](std::size_t weight, std::size_t input, std::size_t output,
                       const std::vector<Meeting>& meetings) {
      const std::int64_t w = weights.q[weight];
      const std::int64_t* x = step.x->q.data() + input;
      std::int64_t* y = sums.data() + output;
      for (const Meeting& at : meetings) y[at.out] += w * x[at.in];
    });
  }
  expect_32_bits(sums);
  return sums;
}

/// The same backwards: the sums over all weights of w g, of every input.
Integers turned_sums_of(const Loops& loops, const Step& step, const Weights& weights,
                        const Integers& g) {
  Integers sums(step.batch * step.x->size(), 0);
  for (std::size_t n = 0; n < step.batch; ++n) {
    loops.visit(n, [&](std::size_t weight, std::size_t input, std::size_t output,
                       const std::vector<Meeting>& meetings) {
      const std::int64_t w = weights.q[weight];
      const std::int64_t* y = g.data() + output;
      std::int64_t* x = sums.data() + input;
      for (const Meeting& at : meetings) x[at.in] += w * y[at.out];
    });
  }
  return sums;
}

Floats sums_and_bias(const Integers& sums, const Floats& units, const Step& step, bool bias) {
  Floats t(sums.size());
  for (std::size_t e = 0; e < t.size(); ++e) {
    const std::size_t c = e % step.y->size() / step.y->shape.pixels();
    t[e] = static_cast<float>(sums[e]) * units[e / step.y->size()] + (bias ? step.w[1][c] : 0.0f);
  }
  return t;
}

/// Per sample and channel in double, in the order of the pixels.
void add_bias_gradient(const Floats& d, Step& step) {
  const std::size_t pixels = step.y->shape.pixels(), channels = step.y->shape.channels;
  for (std::size_t map = 0; map < step.batch * channels; ++map) {
    double sum = 0;
    for (std::size_t p = 0; p < pixels; ++p) sum += static_cast<double>(d[map * pixels + p]);
    step.dw[1][map % channels] += static_cast<float>(sum);
  }
}

/// In chunks of samples, whose gradients are brought to the unit R of the chunk.
void add_weight_gradient(const Loops& loops, Step& step, const Rounded& rounded) {
  for (std::size_t first = 0; first < step.batch; first += kChunk) {
    const std::size_t last = std::min(step.batch, first + kChunk);
    Floats r(step.batch, 0.0f);
    for (std::size_t n = first; n < last; ++n) r[n] = step.x->s[n] * rounded.s[n];
    const float most = *std::ranges::max_element(r);
    Integers sums(loops.weights(), 0);
    for (std::size_t n = first; n < last; ++n) {
      const std::int64_t share =
          most > 0 ? std::min<std::int64_t>(32767, nearest(32768 * (r[n] / most))) : 0;
      Integers common(rounded.g.size(), 0);
      for (std::size_t e = n * step.y->size(); e < (n + 1) * step.y->size(); ++e) {
        const std::int64_t g =
            step.variant == Int8Variant::kNoBifurcation ? 256 * rounded.q[e] : rounded.g[e];
        common[e] = divided(g * share + 16384, 15);
      }
      loops.visit(n, [&](std::size_t weight, std::size_t input, std::size_t output,
                         const std::vector<Meeting>& meetings) {
        const std::int64_t *x = step.x->q.data() + input, *g = common.data() + output;
        std::int64_t sum = 0;
        for (const Meeting& at : meetings) sum += x[at.in] * g[at.out];
        sums[weight] += sum;
      });
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      step.dw[0][k] += most * static_cast<float>(sums[k]);
    }
  }
}

}  // namespace

std::vector<std::vector<Meeting>> slide(std::size_t kernel, std::size_t stride, std::size_t padding,
                                        const model::Shape& in, const model::Shape& out) {
  std::vector<std::vector<Meeting>> window(kernel * kernel);
  for (std::size_t t = 0; t < window.size(); ++t) {
    for (std::size_t p = 0; p < out.pixels(); ++p) {
      const std::size_t row = p / out.width * stride + t / kernel;
      const std::size_t column = p % out.width * stride + t % kernel;
      if (row < padding || row - padding >= in.height) continue;
      if (column < padding || column - padding >= in.width) continue;
      window[t].push_back({.in = (row - padding) * in.width + column - padding, .out = p});
    }
  }
  return window;
}

void forward(const Conv2d& conv, Step& step) {
  const Loops loops(conv, step);
  const Weights weights = quantized_weights(step.w[0], loops.weights());
  const Integers sums = sums_of(loops, step, weights);
  Floats units;
  for (float s : step.x->s) units.push_back(s * weights.s);
  if (conv.bias) {
    quantize(sums_and_bias(sums, units, step, true), step, *step.y);
  } else {
    quantize(sums, units, step, *step.y);
  }
}

void backward(const Conv2d& conv, Step& step, const Floats& d) {
  const Loops loops(conv, step);
  if (conv.bias) add_bias_gradient(d, step);
  const Rounded rounded = round_gradient(d, step);
  add_weight_gradient(loops, step, rounded);
  if (step.reads_images) return;

  const bool exact = step.variant == Int8Variant::kMean;
  const Weights weights = quantized_weights(step.w[0], loops.weights());
  const Integers sums = turned_sums_of(loops, step, weights, exact ? rounded.g : rounded.q);
  Floats dx(sums.size());
  for (std::size_t e = 0; e < dx.size(); ++e) {
    const float s = rounded.s[e / step.x->size()];
    dx[e] = static_cast<float>(sums[e]) * ((exact ? s : 256 * s) * weights.s);
  }
  step.x->add_gradient(dx);
}

void forward(const model::Linear& linear, Step& step) {
  const Loops loops({.out = linear.out, .kernel = 1}, step);
  const Weights weights = quantized_weights(step.w[0], loops.weights());
  Floats units;
  for (float s : step.x->s) units.push_back(s * weights.s);
  const Floats t = sums_and_bias(sums_of(loops, step, weights), units, step, linear.bias);
  if (step.is_last) {
    step.y->floats = t;
  } else {
    quantize(t, step, *step.y);
  }
}

void backward(const model::Linear& linear, Step& step, const Floats& d) {
  backward(Conv2d{.out = linear.out, .kernel = 1, .bias = linear.bias}, step, d);
}

}  // namespace hearsay::engine::reference8
