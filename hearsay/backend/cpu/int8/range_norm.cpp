#include "hearsay/backend/cpu/int8/range_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearsay/backend/cpu/int8/range_norm.cpp"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
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
        t(hn::Min(hn::Set(Floats(), 1.0f), hn::Max(hn::Zero(Floats()), line))) {}
  HWY_INLINE auto inside() const {
    return hn::And(hn::Ge(line, hn::Zero(Floats())), hn::Le(line, hn::Set(Floats(), 1.0f)));
  }
  Float line, t;
};

/// All loops: a vector of channels, whose coefficients stay in registers, then its pixels.
std::int32_t gate_forward(Image<const std::int8_t> q, const ImageSize& size, const float* n,
                          const float* a, const float* bias, Image<const std::int8_t> residual,
                          float residual_scale, Image<float> y) {
  const Floats d;
  const Words w;
  auto most = hn::Zero(w);
  const auto scale = hn::Set(d, residual_scale);
  for (std::size_t c = 0; c < size.channels; c += hn::Lanes(d)) {
    const auto kn = hn::LoadU(d, n + c), ka = hn::LoadU(d, a + c), kb = hn::LoadU(d, bias + c);
    for (std::size_t r = 0; r < size.rows; ++r) {
      const std::int8_t* row = q.data + r * q.pitch + c;
      const std::int8_t* other = residual.data ? residual.data + r * residual.pitch + c : nullptr;
      float* out = y.data + r * y.pitch + c;
      for (std::size_t i = 0; i < size.columns * size.channels; i += size.channels) {
        const auto x = load_codes(row + i);
        auto value = hn::Add(hn::Mul(hn::Mul(ka, x), Gated(kn, x).t), kb);
        if (other != nullptr) value = hn::Add(hn::Mul(load_codes(other + i), scale), value);
        most = hn::Max(most, hn::BitCast(w, hn::Abs(value)));
        hn::StoreU(value, d, out + i);
      }
    }
  }
  return hn::GetLane(hn::MaxOfLanes(w, most));
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

void gate_backward(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
                   const float* n, const float* a, Image<float> d) {
  const Floats tag;
  for (std::size_t c = 0; c < size.channels; c += hn::Lanes(tag)) {
    const auto kn = hn::LoadU(tag, n + c), ka = hn::LoadU(tag, a + c);
    for (std::size_t r = 0; r < size.rows; ++r) {
      const std::int8_t* row = q.data + r * q.pitch + c;
      const float* gradients = g.data + r * g.pitch + c;
      float* out = d.data + r * d.pitch + c;
      for (std::size_t i = 0; i < size.columns * size.channels; i += size.channels) {
        const auto x = load_codes(row + i);
        const Gated gated(kn, x);
        const auto slope = hn::Add(gated.t, hn::IfThenElseZero(gated.inside(), hn::Mul(kn, x)));
        hn::StoreU(hn::Mul(hn::Mul(ka, hn::LoadU(tag, gradients + i)), slope), tag, out + i);
      }
    }
  }
}

void find_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                   const CodeExtremes& found) {
  const hn::CappedTag<std::int8_t, 16> d;
  const std::size_t lanes = hn::Lanes(d), channels = size.channels;
  HWY_ALIGN std::int8_t counts[2][16];
  for (std::size_t c = 0; c < channels; c += lanes) {
    const auto at = [&](std::size_t p) {
      return hn::LoadU(d, q.data + p / size.columns * q.pitch + p % size.columns * channels + c);
    };
    for (std::size_t first = 0; first < size.pixels(); first += length) {
      const std::size_t place = first / length * channels + c;
      auto most = at(first), least = most;
      for (std::size_t p = first + 1; p < first + length; ++p) {
        const auto value = at(p);
        most = hn::Max(most, value);
        least = hn::Min(least, value);
      }
      hn::StoreU(most, d, found.high + place);
      hn::StoreU(least, d, found.low + place);
      std::fill_n(found.highs + place, lanes, 0);
      std::fill_n(found.lows + place, lanes, 0);
      constexpr std::size_t kMost = 127;  // what a counter of 8 bits holds
      for (std::size_t begin = first; begin < first + length; begin += kMost) {
        auto highs = hn::Zero(d), lows = highs;  // minus the counts
        for (std::size_t p = begin; p < std::min(begin + kMost, first + length); ++p) {
          const auto value = at(p);
          highs = hn::Add(highs, hn::VecFromMask(d, hn::Eq(value, most)));
          lows = hn::Add(lows, hn::VecFromMask(d, hn::Eq(value, least)));
        }
        hn::Store(highs, d, counts[0]);
        hn::Store(lows, d, counts[1]);
        for (std::size_t l = 0; l < lanes; ++l) {
          found.highs[place + l] -= counts[0][l];
          found.lows[place + l] -= counts[1][l];
        }
      }
    }
  }
}

void add_shares(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                const CodeShares& shares, Image<float> d) {
  const Floats tag;
  const std::size_t channels = size.channels;
  for (std::size_t c = 0; c < channels; c += hn::Lanes(tag)) {
    for (std::size_t first = 0; first < size.pixels(); first += length) {
      const std::size_t place = first / length * channels + c;
      const auto most = load_codes(shares.high + place), least = load_codes(shares.low + place);
      const auto more = hn::LoadU(tag, shares.highs + place);
      const auto less = hn::LoadU(tag, shares.lows + place);
      for (std::size_t p = first; p < first + length; ++p) {
        const std::size_t r = p / size.columns, i = p % size.columns * channels + c;
        const auto value = load_codes(q.data + r * q.pitch + i);
        float* out = d.data + r * d.pitch + i;
        const auto high = hn::IfThenElseZero(hn::Eq(value, most), more);
        const auto low = hn::IfThenElseZero(hn::Eq(value, least), less);
        hn::StoreU(hn::Add(hn::LoadU(tag, out), hn::Add(high, low)), tag, out);
      }
    }
  }
}

}  // namespace hearsay::backend::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <bit>

namespace hearsay::backend::cpu {

HWY_EXPORT(gate_forward);
HWY_EXPORT(gate_sums);
HWY_EXPORT(gate_backward);
HWY_EXPORT(find_extremes);
HWY_EXPORT(add_shares);

float gate_forward(Image<const std::int8_t> q, const ImageSize& size, const float* n,
                   const float* a, const float* bias, Image<const std::int8_t> residual,
                   float residual_scale, Image<float> y) {
  return std::bit_cast<float>(
      HWY_DYNAMIC_DISPATCH(gate_forward)(q, size, n, a, bias, residual, residual_scale, y));
}
void gate_sums(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
               const float* n, double* sum, double* product, double* square) {
  HWY_DYNAMIC_DISPATCH(gate_sums)(q, g, size, n, sum, product, square);
}
void gate_backward(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
                   const float* n, const float* a, Image<float> d) {
  HWY_DYNAMIC_DISPATCH(gate_backward)(q, g, size, n, a, d);
}
void find_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                   const CodeExtremes& found) {
  HWY_DYNAMIC_DISPATCH(find_extremes)(q, size, length, found);
}
void add_at_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                     const CodeShares& shares, Image<float> d) {
  HWY_DYNAMIC_DISPATCH(add_shares)(q, size, length, shares, d);
}

}  // namespace hearsay::backend::cpu
#endif  // HWY_ONCE
