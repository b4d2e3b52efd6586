#include "hearsay/backend/cpu/int8/range_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearsay/backend/cpu/int8/range_norm.cpp"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "hearsay/backend/cpu/limit-inl.h"
// clang-format on

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace hearsay::backend::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Words = hn::RebindToSigned<Floats>;
using Codes = hn::Rebind<std::int8_t, Floats>;
using Float = hn::Vec<Floats>;

HWY_INLINE Float load_codes(const std::int8_t* q) {
  return hn::ConvertTo(Floats(), hn::PromoteTo(Words(), hn::LoadU(Codes(), q)));
}

/// n q + 1/2 and t.
struct Gated {
  HWY_INLINE Gated(Float n, Float q)
      : line(hn::Add(hn::Mul(n, q), hn::Set(Floats(), 0.5f))),
        t(at_most(hn::Set(Floats(), 1.0f), at_least(hn::Zero(Floats()), line))) {}
  HWY_INLINE auto inside() const {
    return hn::And(hn::Ge(line, hn::Zero(Floats())), hn::Le(line, hn::Set(Floats(), 1.0f)));
  }
  Float line, t;
};

/// All loops: a vector of channels, whose coefficients stay in registers, then its pixels.
/// body(y, place in the output with that pitch).
template <bool kAdds, class Body>
HWY_INLINE void for_each_gated(const GateInput& in, std::size_t pitch, const Body& body) {
  const Floats d;
  const std::size_t channels = in.size.channels;
  const auto scale = hn::Set(d, in.residual_scale);
  for (std::size_t c = 0; c < channels; c += hn::Lanes(d)) {
    const auto n = hn::LoadU(d, in.n + c), a = hn::LoadU(d, in.a + c);
    const auto bias = hn::LoadU(d, in.bias + c);
    for (std::size_t r = 0; r < in.size.rows; ++r) {
      const std::int8_t* row = in.q.data + r * in.q.pitch + c;
      const std::int8_t* other = kAdds ? in.residual.data + r * in.residual.pitch + c : nullptr;
      const std::size_t out = r * pitch + c;
      for (std::size_t i = 0; i < in.size.columns * channels; i += channels) {
        const auto q = load_codes(row + i);
        auto y = hn::Add(hn::Mul(hn::Mul(a, q), Gated(n, q).t), bias);
        if constexpr (kAdds) y = hn::Add(hn::Mul(load_codes(other + i), scale), y);
        body(y, out + i);
      }
    }
  }
}
template <class Body>
HWY_INLINE void for_each_gated(const GateInput& in, std::size_t pitch, const Body& body) {
  if (in.residual.data) {
    for_each_gated<true>(in, pitch, body);
  } else {
    for_each_gated<false>(in, pitch, body);
  }
}

std::int32_t magnitude_of_gated(const GateInput& input) {
  const Words w;
  auto most = hn::Zero(w);
  for_each_gated(input, 0,
                 [&](Float y, std::size_t) { most = hn::Max(most, hn::BitCast(w, hn::Abs(y))); });
  return hn::GetLane(hn::MaxOfLanes(w, most));
}

void gate_codes(const GateInput& input, float factor, Image<std::int8_t> codes) {
  const Words w;
  const auto k = hn::Set(Floats(), factor), shift = hn::Set(Floats(), 0x1.8p23f);
  for_each_gated(input, codes.pitch, [&](Float y, std::size_t at) {
    // engine::nearest_integer
    const auto sum = hn::BitCast(w, hn::Add(hn::Mul(y, k), shift));
    const auto code = hn::Sub(sum, hn::BitCast(w, shift));
    hn::StoreU(hn::DemoteTo(Codes(), code), Codes(), codes.data + at);
  });
}

void gate_sums(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
               const float* n, double* sum, double* product, double* square) {
  const Floats d;
  HWY_ALIGN float parts[3][16];
  for (std::size_t c = 0; c < size.channels; c += hn::Lanes(d)) {
    const auto kn = hn::LoadU(d, n + c);
    for (std::size_t l = 0; l < hn::Lanes(d); ++l) {
      sum[c + l] = product[c + l] = square[c + l] = 0;
    }
    for (std::size_t r = 0; r < size.rows; ++r) {
      const std::int8_t* row = q.data + r * q.pitch + c;
      const float* gradients = g.data + r * g.pitch + c;
      auto s = hn::Zero(d), p = s, f = s;
      for (std::size_t i = 0; i < size.columns * size.channels; i += size.channels) {
        const auto x = load_codes(row + i), e = hn::LoadU(d, gradients + i);
        const Gated gated(kn, x);
        s = hn::Add(s, e);
        p = hn::Add(p, hn::Mul(e, hn::Mul(x, gated.t)));
        f = hn::Add(f, hn::IfThenElseZero(gated.inside(), hn::Mul(hn::Mul(e, x), x)));
      }
      hn::Store(s, d, parts[0]);
      hn::Store(p, d, parts[1]);
      hn::Store(f, d, parts[2]);
      for (std::size_t l = 0; l < hn::Lanes(d); ++l) {
        sum[c + l] += static_cast<double>(parts[0][l]);
        product[c + l] += static_cast<double>(parts[1][l]);
        square[c + l] += static_cast<double>(parts[2][l]);
      }
    }
  }
}

/// body(row, first column, columns) for the parts of rows that `count` pixels from `first` on are.
template <class Body>
HWY_INLINE void for_each_part(const ImageSize& size, std::size_t first, std::size_t count,
                              const Body& body) {
  std::size_t row = first / size.columns, column = first % size.columns;
  while (count > 0) {
    const std::size_t columns = HWY_MIN(size.columns - column, count);
    body(row, column, columns);
    count -= columns;
    column = 0;
    ++row;
  }
}

void gate_backward(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
                   const float* n, const float* a, const ExtremeShares& shares, Image<float> d) {
  const Floats tag;
  const std::size_t channels = size.channels;
  for (std::size_t c = 0; c < channels; c += hn::Lanes(tag)) {
    const auto kn = hn::LoadU(tag, n + c), ka = hn::LoadU(tag, a + c);
    for (std::size_t first = 0; first < size.pixels(); first += shares.length) {
      const std::size_t place = first / shares.length * channels + c;
      const auto most = load_codes(shares.high + place), least = load_codes(shares.low + place);
      const auto at_high = hn::LoadU(tag, shares.at_high + place);
      const auto at_low = hn::LoadU(tag, shares.at_low + place);
      for_each_part(
          size, first, shares.length, [&](std::size_t r, std::size_t x, std::size_t part) {
            const std::int8_t* row = q.data + r * q.pitch + x * channels + c;
            const float* gradients = g.data + r * g.pitch + x * channels + c;
            float* out = d.data + r * d.pitch + x * channels + c;
            for (std::size_t i = 0; i < part * channels; i += channels) {
              const auto value = load_codes(row + i);
              const Gated gated(kn, value);
              const auto slope =
                  hn::Add(gated.t, hn::IfThenElseZero(gated.inside(), hn::Mul(kn, value)));
              const auto own = hn::Mul(hn::Mul(ka, hn::LoadU(tag, gradients + i)), slope);
              const auto high = hn::IfThenElseZero(hn::Eq(value, most), at_high);
              const auto low = hn::IfThenElseZero(hn::Eq(value, least), at_low);
              hn::StoreU(hn::Add(own, hn::Add(high, low)), tag, out + i);
            }
          });
    }
  }
}

using Bytes = hn::CappedTag<std::int8_t, 64>;
using Narrow = hn::CappedTag<std::int8_t, 16>;

/// How the loops over codes go through a sample: vectors of several pixels' channels, if these fill
/// one and no piece ends within one; else of some channels of one pixel.
template <class D>
struct Walk {
  Walk(const ImageSize& image, std::size_t piece)
      : size(image),
        length(piece),
        step(HWY_MAX(image.channels, hn::Lanes(D()))),
        width(HWY_MIN(image.channels, hn::Lanes(D()))) {}

  static bool fits(const ImageSize& image, std::size_t piece) {
    const std::size_t lanes = hn::Lanes(D()), channels = image.channels;
    return channels % lanes == 0 || (lanes % channels == 0 && piece * channels % lanes == 0 &&
                                     image.columns * channels % lanes == 0);
  }

  /// body(piece, first channel).
  template <class Body>
  HWY_INLINE void for_each_piece(const Body& body) const {
    for (std::size_t c = 0; c < size.channels; c += width) {
      for (std::size_t k = 0; k < size.pixels() / length; ++k) body(k, c);
    }
  }
  /// body(vector) for all of a piece.
  template <class Body>
  HWY_INLINE void for_each_vector(Image<const std::int8_t> q, std::size_t piece, std::size_t c,
                                  const Body& body) const {
    for_each_part(size, piece * length, length,
                  [&](std::size_t r, std::size_t x, std::size_t part) {
                    const std::int8_t* row = q.data + r * q.pitch + x * size.channels + c;
                    for (std::size_t i = 0; i < part * size.channels; i += step) {
                      body(hn::LoadU(D(), row + i));
                    }
                  });
  }

  ImageSize size;
  std::size_t length;
  std::size_t step;   ///< bytes between vectors
  std::size_t width;  ///< channels in a vector, which has several pixels' if it is longer
};

template <class D>
HWY_INLINE void extremes(Image<const std::int8_t> q, const Walk<D>& walk, std::int8_t* high,
                         std::int8_t* low) {
  const D d;
  HWY_ALIGN std::int8_t found[2][64];
  walk.for_each_piece([&](std::size_t piece, std::size_t c) {
    auto most = hn::Set(d, -128), least = hn::Set(d, 127);
    walk.for_each_vector(q, piece, c, [&](hn::Vec<D> value) {
      most = hn::Max(most, value);
      least = hn::Min(least, value);
    });
    hn::Store(most, d, found[0]);
    hn::Store(least, d, found[1]);
    std::int8_t* highs = high + piece * walk.size.channels + c;
    std::int8_t* lows = low + piece * walk.size.channels + c;
    for (std::size_t l = 0; l < walk.width; ++l) {
      highs[l] = found[0][l];
      lows[l] = found[1][l];
    }
    for (std::size_t pixel = walk.width; pixel < hn::Lanes(d); pixel += walk.width) {
      for (std::size_t l = 0; l < walk.width; ++l) {
        highs[l] = HWY_MAX(highs[l], found[0][pixel + l]);
        lows[l] = HWY_MIN(lows[l], found[1][pixel + l]);
      }
    }
  });
}

void find_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                   std::int8_t* high, std::int8_t* low) {
  if (Walk<Bytes>::fits(size, length)) return extremes<Bytes>(q, {size, length}, high, low);
  extremes<Narrow>(q, {size, length}, high, low);
}

/// As many copies of `width` bytes as a vector holds.
template <class D>
HWY_INLINE hn::Vec<D> repeated(const std::int8_t* bytes, std::size_t width) {
  HWY_ALIGN std::int8_t copies[64];
  for (std::size_t l = 0; l < hn::Lanes(D()); l += width) {
    for (std::size_t k = 0; k < width; ++k) copies[l + k] = bytes[k];
  }
  return hn::Load(D(), copies);
}

template <class D>
HWY_INLINE void counts(Image<const std::int8_t> q, const Walk<D>& walk, const std::int8_t* high,
                       const std::int8_t* low, std::int32_t* highs, std::int32_t* lows) {
  const D d;
  walk.for_each_piece([&](std::size_t piece, std::size_t c) {
    const std::size_t place = piece * walk.size.channels + c;
    const auto most = repeated<D>(high + place, walk.width);
    const auto least = repeated<D>(low + place, walk.width);
    std::fill_n(highs + place, walk.width, 0);
    std::fill_n(lows + place, walk.width, 0);
    auto negative_highs = hn::Zero(d), negative_lows = negative_highs;
    std::size_t counted = 0;
    const auto flush = [&] {
      HWY_ALIGN std::int8_t found[2][64];
      hn::Store(negative_highs, d, found[0]);
      hn::Store(negative_lows, d, found[1]);
      for (std::size_t pixel = 0; pixel < hn::Lanes(d); pixel += walk.width) {
        for (std::size_t l = 0; l < walk.width; ++l) {
          highs[place + l] -= found[0][pixel + l];
          lows[place + l] -= found[1][pixel + l];
        }
      }
      negative_highs = negative_lows = hn::Zero(d);
      counted = 0;
    };
    walk.for_each_vector(q, piece, c, [&](hn::Vec<D> value) {
      negative_highs = hn::Add(negative_highs, hn::VecFromMask(d, hn::Eq(value, most)));
      negative_lows = hn::Add(negative_lows, hn::VecFromMask(d, hn::Eq(value, least)));
      constexpr std::size_t kMost = 128;  // down to which a counter of 8 bits goes
      if (++counted == kMost) flush();
    });
    flush();
  });
}

void occurrences(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                 const std::int8_t* high, const std::int8_t* low, std::int32_t* highs,
                 std::int32_t* lows) {
  if (Walk<Bytes>::fits(size, length)) {
    return counts<Bytes>(q, {size, length}, high, low, highs, lows);
  }
  counts<Narrow>(q, {size, length}, high, low, highs, lows);
}

}  // namespace hearsay::backend::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <bit>

namespace hearsay::backend::cpu {

HWY_EXPORT(magnitude_of_gated);
HWY_EXPORT(gate_codes);
HWY_EXPORT(gate_sums);
HWY_EXPORT(gate_backward);
HWY_EXPORT(find_extremes);
HWY_EXPORT(occurrences);

float gate_magnitude(const GateInput& input) {
  return std::bit_cast<float>(HWY_DYNAMIC_DISPATCH(magnitude_of_gated)(input));
}
void gate_codes(const GateInput& input, float factor, Image<std::int8_t> codes) {
  HWY_DYNAMIC_DISPATCH(gate_codes)(input, factor, codes);
}
void gate_sums(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
               const float* n, double* sum, double* product, double* square) {
  HWY_DYNAMIC_DISPATCH(gate_sums)(q, g, size, n, sum, product, square);
}
void find_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                   std::int8_t* high, std::int8_t* low) {
  HWY_DYNAMIC_DISPATCH(find_extremes)(q, size, length, high, low);
}
void count_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                    const std::int8_t* high, const std::int8_t* low, std::int32_t* highs,
                    std::int32_t* lows) {
  HWY_DYNAMIC_DISPATCH(occurrences)(q, size, length, high, low, highs, lows);
}
void gate_backward(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
                   const float* n, const float* a, const ExtremeShares& shares, Image<float> d) {
  HWY_DYNAMIC_DISPATCH(gate_backward)(q, g, size, n, a, shares, d);
}

}  // namespace hearsay::backend::cpu
#endif  // HWY_ONCE
