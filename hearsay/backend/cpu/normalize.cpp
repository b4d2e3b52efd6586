#include "hearsay/backend/cpu/normalize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearsay/backend/cpu/normalize.cpp"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "hearsay/backend/cpu/limit-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace hearsay::backend::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// body(d, n, c, at) for every sample n and every vector of channels from c on: its pixels are at
/// `at`, at + block, at + 2 block, ...
template <class Body>
HWY_INLINE void for_each_run(const Tiles& tiles, const Body& body) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t blocks = tiles.blocks();
  for (std::size_t n = 0; n < tiles.samples; ++n) {
    for (std::size_t k = 0; k < blocks; ++k) {
      const std::size_t start = (n * blocks + k) * tiles.pixels * tiles.block;
      std::size_t i = 0;
      for (; i + lanes <= tiles.block; i += lanes) body(d, n, k * tiles.block + i, start + i);
      for (; i < tiles.block; ++i) body(one, n, k * tiles.block + i, start + i);
    }
  }
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const PerChannel& values, std::size_t n, std::size_t c) {
  return hn::LoadU(d, values.data + n * values.stride + c);
}

/// s(t) = 1 / (1 + exp(-t)). Highway's Exp is valid up to 88 only; a NaN passes.
template <class D>
HWY_INLINE hn::Vec<D> logistic(D d, hn::Vec<D> t) {
  const auto one = hn::Set(d, 1.0f);
  const auto exponent = at_most(hn::Set(d, 88.0f), hn::Neg(t));
  return hn::Div(one, hn::Add(one, hn::Exp(d, exponent)));
}

void moments(const float* x, const Tiles& tiles, float* mean, float* square) {
  const std::size_t width = tiles.padded_channels();
  for_each_run(tiles, [&](auto d, std::size_t n, std::size_t c, std::size_t at) {
    // Sums of differences from the first pixel: no cancellation where the mean is large.
    const float* p = x + at;
    const auto shift = hn::LoadU(d, p);
    auto s0 = hn::Zero(d), s1 = s0, q0 = s0, q1 = s0;
    std::size_t i = 0;
    for (; i + 2 <= tiles.pixels; i += 2, p += 2 * tiles.block) {
      const auto a = hn::Sub(hn::LoadU(d, p), shift);
      const auto b = hn::Sub(hn::LoadU(d, p + tiles.block), shift);
      s0 = hn::Add(s0, a);
      s1 = hn::Add(s1, b);
      q0 = hn::MulAdd(a, a, q0);
      q1 = hn::MulAdd(b, b, q1);
    }
    if (i < tiles.pixels) {
      const auto a = hn::Sub(hn::LoadU(d, p), shift);
      s0 = hn::Add(s0, a);
      q0 = hn::MulAdd(a, a, q0);
    }
    const auto sum = hn::Add(s0, s1);
    const auto apart = hn::Mul(sum, hn::Set(d, 1.0f / static_cast<float>(tiles.pixels)));
    hn::StoreU(hn::Add(shift, apart), d, mean + n * width + c);
    const auto spread = hn::NegMulAdd(sum, apart, hn::Add(q0, q1));
    hn::StoreU(hn::Max(spread, hn::Zero(d)), d, square + n * width + c);
  });
}

void affine(const float* x, const Tiles& tiles, PerChannel scale, PerChannel offset,
            const float* residual, bool relu, float* y) {
  for_each_run(tiles, [&](auto d, std::size_t n, std::size_t c, std::size_t at) {
    const auto a = load(d, scale, n, c);
    const auto b = load(d, offset, n, c);
    const auto low = hn::Set(d, relu ? 0.0f : -HUGE_VALF);
    const std::size_t end = at + tiles.pixels * tiles.block;
    if (residual == nullptr) {
      for (std::size_t i = at; i < end; i += tiles.block) {
        hn::StoreU(at_least(low, hn::MulAdd(a, hn::LoadU(d, x + i), b)), d, y + i);
      }
    } else {
      for (std::size_t i = at; i < end; i += tiles.block) {
        const auto sum = hn::Add(hn::MulAdd(a, hn::LoadU(d, x + i), b), hn::LoadU(d, residual + i));
        hn::StoreU(at_least(low, sum), d, y + i);
      }
    }
  });
}

void affine_sums(const float* x, const Tiles& tiles, PerChannel centre, const AffineOutput& output,
                 const float* second, float* g, float* sum, float* product) {
  const std::size_t width = tiles.padded_channels();
  for_each_run(tiles, [&](auto d, std::size_t n, std::size_t c, std::size_t at) {
    const auto middle = load(d, centre, n, c);
    const auto zero = hn::Zero(d);
    auto s = zero, q = zero;
    const std::size_t end = at + tiles.pixels * tiles.block;
    const auto pass = [&](const auto& gradient, const auto& positive) {
      for (std::size_t i = at; i < end; i += tiles.block) {
        const auto value = hn::LoadU(d, x + i);
        const auto kept = positive(gradient(i), value, i);
        s = hn::Add(s, kept);
        q = hn::MulAdd(kept, hn::Sub(value, middle), q);
        hn::StoreU(kept, d, g + i);
      }
    };
    const auto all = [&](auto v, auto, std::size_t) { return v; };
    const auto by_output = [&](auto v, auto, std::size_t i) {
      return hn::IfThenElseZero(hn::Gt(hn::LoadU(d, output.y + i), zero), v);
    };
    const auto a = output.relu && !output.y ? load(d, output.scale, n, c) : zero;
    const auto b = output.relu && !output.y ? load(d, output.offset, n, c) : zero;
    const auto by_input = [&](auto v, auto value, std::size_t) {
      return hn::IfThenElseZero(hn::Gt(hn::MulAdd(a, value, b), zero), v);
    };
    const auto single = [&](std::size_t i) { return hn::LoadU(d, g + i); };
    const auto both = [&](std::size_t i) {
      return hn::Add(hn::LoadU(d, g + i), hn::LoadU(d, second + i));
    };
    const auto choose = [&](const auto& gradient) {
      if (!output.relu) {
        pass(gradient, all);
      } else if (output.y) {
        pass(gradient, by_output);
      } else {
        pass(gradient, by_input);
      }
    };
    if (second) {
      choose(both);
    } else {
      choose(single);
    }
    hn::StoreU(s, d, sum + n * width + c);
    hn::StoreU(q, d, product + n * width + c);
  });
}

void affine_backward(const float* g, const float* x, const Tiles& tiles, PerChannel a, PerChannel b,
                     PerChannel c, float* dx) {
  for_each_run(tiles, [&](auto d, std::size_t n, std::size_t channel, std::size_t at) {
    const auto ka = load(d, a, n, channel);
    const auto kb = load(d, b, n, channel);
    const auto kc = load(d, c, n, channel);
    const std::size_t end = at + tiles.pixels * tiles.block;
    for (std::size_t i = at; i < end; i += tiles.block) {
      const auto rest = hn::MulAdd(kb, hn::LoadU(d, x + i), kc);
      hn::StoreU(hn::MulAdd(ka, hn::LoadU(d, g + i), rest), d, dx + i);
    }
  });
}

/// h = x s(v x), its derivatives by x and v.
struct LogisticGate {
  template <class D, class V>
  static HWY_INLINE V value(D d, V v, V x) {
    return hn::Mul(x, logistic(d, hn::Mul(v, x)));
  }
  template <class D, class V>
  static HWY_INLINE V by_x(D d, V v, V x) {
    const V t = hn::Mul(v, x), s = logistic(d, t);
    return hn::MulAdd(hn::NegMulAdd(s, s, s), t, s);
  }
  /// Adds g h to `product`, g dh/dv = g x^2 s (1 - s) to `dv`.
  template <class D, class V>
  static HWY_INLINE void add(D d, V v, V x, V g, V& product, V& dv) {
    const V s = logistic(d, hn::Mul(v, x)), gh = hn::Mul(g, hn::Mul(x, s));
    product = hn::Add(product, gh);
    dv = hn::MulAdd(gh, hn::NegMulAdd(x, s, x), dv);
  }
};

/// The same with s(t) = clamp(t / 6 + 1 / 2); inside, dh/dx = s + v x / 6 and dh/dv = x^2 / 6. A
/// NaN passes through Clamp as in `logistic`: x is a factor of every result.
struct HardGate {
  template <class D, class V>
  static HWY_INLINE V value(D d, V v, V x) {
    return hn::Mul(x, clamped(d, line(d, v, x)));
  }
  template <class D, class V>
  static HWY_INLINE V by_x(D d, V v, V x) {
    const V raw = line(d, v, x), half = hn::Set(d, 0.5f);
    const V s = clamped(d, raw);
    return hn::IfThenElse(inside(d, raw), hn::Add(s, hn::Sub(raw, half)), s);
  }
  template <class D, class V>
  static HWY_INLINE void add(D d, V v, V x, V g, V& product, V& dv) {
    const V raw = line(d, v, x), gx = hn::Mul(g, x);
    product = hn::MulAdd(gx, clamped(d, raw), product);
    const V square = hn::Mul(hn::Mul(gx, x), hn::Set(d, 1.0f / 6));
    dv = hn::Add(dv, hn::IfThenElseZero(inside(d, raw), square));
  }

 private:
  /// A NaN passes, as in `logistic`.
  template <class D, class V>
  static HWY_INLINE V clamped(D d, V raw) {
    return at_most(hn::Set(d, 1.0f), at_least(hn::Zero(d), raw));
  }
  template <class D, class V>
  static HWY_INLINE V line(D d, V v, V x) {
    return hn::MulAdd(hn::Mul(v, hn::Set(d, 1.0f / 6)), x, hn::Set(d, 0.5f));
  }
  template <class D, class V>
  static HWY_INLINE auto inside(D d, V raw) {
    return hn::And(hn::Ge(raw, hn::Zero(d)), hn::Le(raw, hn::Set(d, 1.0f)));
  }
};

/// Calls body with the type of the gate.
template <class Body>
HWY_INLINE void with_gate(Gate gate, const Body& body) {
  if (gate == Gate::kHard) {
    body(HardGate());
  } else {
    body(LogisticGate());
  }
}

void evo(const float* x, const Tiles& tiles, Gate gate, PerChannel v, PerChannel scale,
         PerChannel offset, const float* residual, float* y) {
  with_gate(gate, [&](auto kind) {
    for_each_run(tiles, [&](auto d, std::size_t n, std::size_t c, std::size_t at) {
      const auto kv = load(d, v, n, c);
      const auto a = load(d, scale, n, c);
      const auto b = load(d, offset, n, c);
      const std::size_t end = at + tiles.pixels * tiles.block;
      for (std::size_t i = at; i < end; i += tiles.block) {
        const auto h = kind.value(d, kv, hn::LoadU(d, x + i));
        const auto rest = residual ? hn::Add(b, hn::LoadU(d, residual + i)) : b;
        hn::StoreU(hn::MulAdd(a, h, rest), d, y + i);
      }
    });
  });
}

void evo_sums(const float* x, const float* g, const Tiles& tiles, Gate gate, PerChannel v,
              float* sum, float* product, float* dv) {
  const std::size_t width = tiles.padded_channels();
  with_gate(gate, [&](auto kind) {
    for_each_run(tiles, [&](auto d, std::size_t n, std::size_t c, std::size_t at) {
      const auto kv = load(d, v, n, c);
      auto s = hn::Zero(d), q = s, r = s;
      const std::size_t end = at + tiles.pixels * tiles.block;
      for (std::size_t i = at; i < end; i += tiles.block) {
        const auto gradient = hn::LoadU(d, g + i);
        s = hn::Add(s, gradient);
        kind.add(d, kv, hn::LoadU(d, x + i), gradient, q, r);
      }
      hn::StoreU(s, d, sum + n * width + c);
      hn::StoreU(q, d, product + n * width + c);
      hn::StoreU(r, d, dv + n * width + c);
    });
  });
}

void evo_backward(const float* g, const float* x, const Tiles& tiles, Gate gate, PerChannel v,
                  PerChannel a, PerChannel b, PerChannel c, float* dx) {
  with_gate(gate, [&](auto kind) {
    for_each_run(tiles, [&](auto d, std::size_t n, std::size_t channel, std::size_t at) {
      const auto kv = load(d, v, n, channel);
      const auto ka = load(d, a, n, channel);
      const auto kb = load(d, b, n, channel);
      const auto kc = load(d, c, n, channel);
      const std::size_t end = at + tiles.pixels * tiles.block;
      for (std::size_t i = at; i < end; i += tiles.block) {
        const auto value = hn::LoadU(d, x + i);
        const auto rest = hn::MulAdd(kb, value, kc);
        const auto slope = hn::Mul(ka, kind.by_x(d, kv, value));
        hn::StoreU(hn::MulAdd(slope, hn::LoadU(d, g + i), rest), d, dx + i);
      }
    });
  });
}

/// body(d, first, at) for every piece of every vector of channels: the place of its results, and of
/// its first pixel.
template <class Body>
HWY_INLINE void for_each_piece(const Tiles& tiles, std::size_t length, const Body& body) {
  const std::size_t width = tiles.padded_channels(), pieces = tiles.pixels / length;
  for_each_run(tiles, [&](auto d, std::size_t n, std::size_t c, std::size_t at) {
    for (std::size_t k = 0; k < pieces; ++k) {
      body(d, (n * pieces + k) * width + c, at + k * length * tiles.block);
    }
  });
}

void piece_extremes(const float* x, const Tiles& tiles, std::size_t length, const Extremes& found) {
  for_each_piece(tiles, length, [&](auto d, std::size_t first, std::size_t at) {
    const std::size_t end = at + length * tiles.block;
    auto most = hn::LoadU(d, x + at), least = most;
    for (std::size_t i = at + tiles.block; i < end; i += tiles.block) {
      const auto value = hn::LoadU(d, x + i);
      most = hn::Max(most, value);
      least = hn::Min(least, value);
    }
    const auto one = hn::Set(d, 1.0f);
    auto more = hn::Zero(d), less = more;
    for (std::size_t i = at; i < end; i += tiles.block) {
      const auto value = hn::LoadU(d, x + i);
      more = hn::Add(more, hn::IfThenElseZero(hn::Eq(value, most), one));
      less = hn::Add(less, hn::IfThenElseZero(hn::Eq(value, least), one));
    }
    hn::StoreU(most, d, found.high + first);
    hn::StoreU(least, d, found.low + first);
    hn::StoreU(more, d, found.highs + first);
    hn::StoreU(less, d, found.lows + first);
  });
}

void add_at_extremes(const float* x, const Tiles& tiles, std::size_t length, const Extremes& given,
                     float* dx) {
  for_each_piece(tiles, length, [&](auto d, std::size_t first, std::size_t at) {
    const auto most = hn::LoadU(d, given.high + first), least = hn::LoadU(d, given.low + first);
    const auto more = hn::LoadU(d, given.highs + first), less = hn::LoadU(d, given.lows + first);
    for (std::size_t i = at; i < at + length * tiles.block; i += tiles.block) {
      const auto value = hn::LoadU(d, x + i);
      const auto high = hn::IfThenElseZero(hn::Eq(value, most), more);
      const auto low = hn::IfThenElseZero(hn::Eq(value, least), less);
      hn::StoreU(hn::Add(hn::LoadU(d, dx + i), hn::Add(high, low)), d, dx + i);
    }
  });
}

}  // namespace hearsay::backend::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hearsay::backend::cpu {

HWY_EXPORT(moments);
HWY_EXPORT(affine);
HWY_EXPORT(affine_sums);
HWY_EXPORT(affine_backward);
HWY_EXPORT(evo);
HWY_EXPORT(evo_sums);
HWY_EXPORT(evo_backward);
HWY_EXPORT(piece_extremes);
HWY_EXPORT(add_at_extremes);

void moments(const float* x, const Tiles& tiles, float* mean, float* square) {
  HWY_DYNAMIC_DISPATCH(moments)(x, tiles, mean, square);
}
void affine(const float* x, const Tiles& tiles, PerChannel scale, PerChannel offset,
            const float* residual, bool relu, float* y) {
  HWY_DYNAMIC_DISPATCH(affine)(x, tiles, scale, offset, residual, relu, y);
}
void affine_sums(const float* x, const Tiles& tiles, PerChannel centre, const AffineOutput& output,
                 const float* second, float* g, float* sum, float* product) {
  HWY_DYNAMIC_DISPATCH(affine_sums)(x, tiles, centre, output, second, g, sum, product);
}
void affine_backward(const float* g, const float* x, const Tiles& tiles, PerChannel a, PerChannel b,
                     PerChannel c, float* dx) {
  HWY_DYNAMIC_DISPATCH(affine_backward)(g, x, tiles, a, b, c, dx);
}
void evo(const float* x, const Tiles& tiles, Gate gate, PerChannel v, PerChannel scale,
         PerChannel offset, const float* residual, float* y) {
  HWY_DYNAMIC_DISPATCH(evo)(x, tiles, gate, v, scale, offset, residual, y);
}
void evo_sums(const float* x, const float* g, const Tiles& tiles, Gate gate, PerChannel v,
              float* sum, float* product, float* dv) {
  HWY_DYNAMIC_DISPATCH(evo_sums)(x, g, tiles, gate, v, sum, product, dv);
}
void evo_backward(const float* g, const float* x, const Tiles& tiles, Gate gate, PerChannel v,
                  PerChannel a, PerChannel b, PerChannel c, float* dx) {
  HWY_DYNAMIC_DISPATCH(evo_backward)(g, x, tiles, gate, v, a, b, c, dx);
}
void piece_extremes(const float* x, const Tiles& tiles, std::size_t length, const Extremes& found) {
  HWY_DYNAMIC_DISPATCH(piece_extremes)(x, tiles, length, found);
}
void add_at_extremes(const float* x, const Tiles& tiles, std::size_t length, const Extremes& given,
                     float* dx) {
  HWY_DYNAMIC_DISPATCH(add_at_extremes)(x, tiles, length, given, dx);
}

void clear_padding(float* x, const Tiles& tiles) {
  const std::size_t spare = tiles.padded_channels() - tiles.channels;
  if (spare == 0) return;
  const std::size_t last = tiles.blocks() - 1;
  for (std::size_t n = 0; n < tiles.samples; ++n) {
    float* block = x + (n * tiles.blocks() + last) * tiles.pixels * tiles.block;
    for (std::size_t p = 0; p < tiles.pixels; ++p) {
      for (std::size_t i = tiles.block - spare; i < tiles.block; ++i)
        block[p * tiles.block + i] = 0;
    }
  }
}

}  // namespace hearsay::backend::cpu
#endif  // HWY_ONCE
