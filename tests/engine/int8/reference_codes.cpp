#include <algorithm>

#include "engine/int8/reference_step.h"
#include "hearsay/core/random.h"

/// Operations on codes: sums, relu, dropout, and those that move codes.
namespace hearsay::engine::reference8 {

namespace {

/// visit(entry of x, entry of y) where they are the same number.
template <class Visit>
void visit_shortcut(const Step& step, Visit visit) {
  const model::Shape &in = step.x->shape, &out = step.y->shape;
  const std::size_t before = (out.channels - in.channels) / 2;
  for (std::size_t map = 0; map < step.batch * in.channels; ++map) {
    const std::size_t n = map / in.channels, c = map % in.channels;
    for (std::size_t p = 0; p < out.pixels(); ++p) {
      visit(map * in.pixels() + p / out.width * 2 * in.width + p % out.width * 2,
            n * out.size() + (before + c) * out.pixels() + p);
    }
  }
}

/// visit(entry of x, entry of y), the former being the first of the largest codes in the window of
/// the latter.
template <class Visit>
void visit_largest(const model::MaxPool& pool, const Step& step, Visit visit) {
  const Value& x = *step.x;
  const model::Shape& out = step.y->shape;
  const auto window = slide(pool.kernel, pool.stride, pool.padding, x.shape, out);
  for (std::size_t map = 0; map < step.batch * out.channels; ++map) {
    std::vector<std::size_t> best(out.pixels(), x.q.size());
    for (const std::vector<Meeting>& meetings : window) {
      for (const Meeting& at : meetings) {
        const std::size_t e = map * x.shape.pixels() + at.in;
        if (best[at.out] == x.q.size() || x.q[e] > x.q[best[at.out]]) best[at.out] = e;
      }
    }
    for (std::size_t p = 0; p < out.pixels(); ++p) visit(best[p], map * out.pixels() + p);
  }
}

bool drops(const model::Dropout& dropout, const Step& step, std::size_t entry) {
  const std::uint64_t index = (std::uint64_t{step.index} << 40) + entry;
  return static_cast<double>(to_unit_float(step.key->stream(Purpose::kDropout).word(index))) <
         dropout.rate;
}
float kept(const model::Dropout& dropout) { return static_cast<float>(1 / (1 - dropout.rate)); }

void copy(const Step& step) {
  step.y->q = step.x->q;
  step.y->s = step.x->s;
}

}  // namespace

void Value::add_gradient(const Floats& g) {
  if (gradient.empty()) {
    gradient = g;
    return;
  }
  for (std::size_t e = 0; e < g.size(); ++e) gradient[e] += g[e];
}

void forward(const model::Add&, Step& step) {
  const Value &x = *step.x, &other = *step.residual;
  Floats sums(x.q.size());
  for (std::size_t e = 0; e < sums.size(); ++e) {
    const std::size_t n = e / x.size();
    sums[e] = static_cast<float>(x.q[e]) * x.s[n] + static_cast<float>(other.q[e]) * other.s[n];
  }
  quantize(sums, step, *step.y);
}
void backward(const model::Add&, Step& step, const Floats& g) { step.x->add_gradient(g); }

void forward(const model::Relu&, Step& step) {
  copy(step);
  for (std::int64_t& q : step.y->q) q = std::max<std::int64_t>(q, 0);
}
void backward(const model::Relu&, Step& step, const Floats& g) {
  Floats dx = g;
  for (std::size_t e = 0; e < g.size(); ++e) dx[e] = step.y->q[e] > 0 ? g[e] : 0.0f;
  step.x->add_gradient(dx);
}

void forward(const model::Shortcut&, Step& step) {
  step.y->s = step.x->s;
  step.y->q.assign(step.batch * step.y->size(), 0);
  visit_shortcut(step, [&](std::size_t in, std::size_t out) { step.y->q[out] = step.x->q[in]; });
}
void backward(const model::Shortcut&, Step& step, const Floats& g) {
  Floats dx(step.x->q.size(), 0.0f);
  visit_shortcut(step, [&](std::size_t in, std::size_t out) { dx[in] = g[out]; });
  step.x->add_gradient(dx);
}

void forward(const model::MaxPool& pool, Step& step) {
  step.y->s = step.x->s;
  step.y->q.resize(step.batch * step.y->size());
  visit_largest(pool, step,
                [&](std::size_t in, std::size_t out) { step.y->q[out] = step.x->q[in]; });
}
void backward(const model::MaxPool& pool, Step& step, const Floats& g) {
  Floats dx(step.x->q.size(), 0.0f);
  visit_largest(pool, step, [&](std::size_t in, std::size_t out) { dx[in] += g[out]; });
  step.x->add_gradient(dx);
}

void forward(const model::GlobalAveragePool&, Step& step) {
  const std::size_t pixels = step.x->shape.pixels();
  Integers sums(step.x->q.size() / pixels, 0);
  for (std::size_t e = 0; e < step.x->q.size(); ++e) sums[e / pixels] += step.x->q[e];
  Floats units;
  for (float s : step.x->s) units.push_back(s / static_cast<float>(pixels));
  quantize(sums, units, step, *step.y);
}
void backward(const model::GlobalAveragePool&, Step& step, const Floats& g) {
  const std::size_t pixels = step.x->shape.pixels();
  const float share = 1 / static_cast<float>(pixels);
  Floats dx(g.size() * pixels);
  for (std::size_t e = 0; e < dx.size(); ++e) dx[e] = g[e / pixels] * share;
  step.x->add_gradient(dx);
}

void forward(const model::Dropout& dropout, Step& step) {
  copy(step);
  if (step.key == nullptr) return;
  for (float& s : step.y->s) s *= kept(dropout);
  for (std::size_t e = 0; e < step.y->q.size(); ++e) {
    if (drops(dropout, step, e)) step.y->q[e] = 0;
  }
}
void backward(const model::Dropout& dropout, Step& step, const Floats& g) {
  Floats dx(g.size());
  for (std::size_t e = 0; e < g.size(); ++e) {
    dx[e] = drops(dropout, step, e) ? 0.0f : g[e] * kept(dropout);
  }
  step.x->add_gradient(dx);
}

void forward(const model::Flatten&, Step& step) { copy(step); }
void backward(const model::Flatten&, Step& step, const Floats& g) { step.x->add_gradient(g); }

}  // namespace hearsay::engine::reference8
