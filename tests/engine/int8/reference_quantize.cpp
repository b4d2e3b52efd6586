#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>

#include "engine/int8/reference_step.h"
#include "hearsay/core/random.h"

namespace hearsay::engine::reference8 {

namespace {

/// max |t| of each sample, as a float.
template <class T>
Floats magnitudes(const std::vector<T>& t, const Step& step) {
  const std::size_t size = t.size() / step.batch;
  Floats m(step.batch, 0.0f);
  for (std::size_t e = 0; e < t.size(); ++e) {
    m[e / size] = std::max(m[e / size], std::abs(static_cast<float>(t[e])));
  }
  if (step.variant == Int8Variant::kScalePerBatch) {
    m.assign(step.batch, *std::ranges::max_element(m));
  }
  return m;
}

float factor(float top, float m) { return m < 0x1p-100f ? 0.0f : top / m; }

template <class T>
void quantize_all(const std::vector<T>& t, const Floats& units, const Step& step, Value& y) {
  const std::size_t size = t.size() / step.batch;
  const Floats m = magnitudes(t, step);
  y.q.resize(t.size());
  y.s.resize(step.batch);
  for (std::size_t e = 0; e < t.size(); ++e) {
    const std::size_t n = e / size;
    y.q[e] = nearest(static_cast<float>(t[e]) * factor(127, m[n]));
    y.s[n] = m[n] * units[n] / 127;
    assert(std::abs(y.q[e]) <= 127);
  }
}

/// Byte number `index` of the random bytes of an operation.
std::int64_t random_byte(const Step& step, std::uint64_t index) {
  const std::uint64_t block = (std::uint64_t{step.index} << 36) + index / 16;
  const std::uint32_t word = step.key->stream(Purpose::kQuantize).words(block)[index % 16 / 4];
  return (word >> (8 * (index % 4))) & 0xff;
}

}  // namespace

std::int64_t nearest(float x) { return static_cast<std::int64_t>(std::nearbyint(x)); }

std::int64_t divided(std::int64_t x, int bits) {
  const std::int64_t unit = std::int64_t{1} << bits;
  return x >= 0 ? x / unit : -((-x + unit - 1) / unit);
}

void quantize(const Floats& t, const Step& step, Value& y) {
  quantize_all(t, Floats(step.batch, 1.0f), step, y);
}
void quantize(const Integers& t, const Floats& units, const Step& step, Value& y) {
  quantize_all(t, units, step, y);
}

Weights quantized_weights(const float* w, std::size_t size) {
  float m = 0;
  for (std::size_t e = 0; e < size; ++e) m = std::max(m, std::abs(w[e]));
  Weights weights{.q = Integers(size), .s = m / 127};
  for (std::size_t e = 0; e < size; ++e) weights.q[e] = nearest(w[e] * factor(127, m));
  return weights;
}

Rounded round_gradient(const Floats& d, const Step& step) {
  const model::Shape& shape = step.y->shape;
  const std::size_t pixels = shape.pixels(), stored = (shape.channels + 15) / 16 * 16;
  const Floats m = magnitudes(d, step);
  Rounded rounded{.g = Integers(d.size()), .q = Integers(d.size()), .s = Floats(step.batch)};
  for (std::size_t e = 0; e < d.size(); ++e) {
    const std::size_t n = e / shape.size(), c = e % shape.size() / pixels, p = e % pixels;
    const std::int64_t g = nearest(d[e] * factor(32512, m[n]));
    const std::int64_t r = step.variant == Int8Variant::kTruncation
                               ? 0
                               : random_byte(step, (n * pixels + p) * stored + c);
    rounded.s[n] = m[n] / 32512;
    rounded.g[e] = g;
    rounded.q[e] = divided(g + r, 8);
    assert(std::abs(g) <= 32512 && std::abs(rounded.q[e]) <= 127);
  }
  return rounded;
}

}  // namespace hearsay::engine::reference8
