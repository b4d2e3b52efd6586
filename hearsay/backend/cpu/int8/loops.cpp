#include "hearsay/backend/cpu/int8/loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hearsay/backend/cpu/int8/loops.cpp"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace hearsay::backend::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Words = hn::RebindToSigned<Floats>;

/// rne(x) as engine::nearest_integer has it.
HWY_INLINE hn::Vec<Words> nearest(hn::Vec<Floats> x) {
  const Floats d;
  const Words w;
  const auto shift = hn::Set(d, 0x1.8p23f);
  return hn::Sub(hn::BitCast(w, hn::Add(x, shift)), hn::BitCast(w, shift));
}

/// body(i) for every vector of a row of `length`, a multiple of 16.
template <class Body>
HWY_INLINE void for_each_of_row(std::size_t length, const Body& body) {
  const std::size_t lanes = hn::Lanes(Floats());
  for (std::size_t i = 0; i < length; i += lanes) body(i);
}

std::int32_t magnitude_of_words(Image<const std::int32_t> x, const ImageSize& size) {
  const Words w;
  auto most = hn::Zero(w);
  for (std::size_t r = 0; r < size.rows; ++r) {
    const std::int32_t* row = x.data + r * x.pitch;
    for_each_of_row(size.columns * size.channels,
                    [&](std::size_t i) { most = hn::Max(most, hn::Abs(hn::LoadU(w, row + i))); });
  }
  return hn::GetLane(hn::MaxOfLanes(w, most));
}

/// As bits: those of NaN are beyond those of infinity.
std::int32_t magnitude_of_floats(Image<const float> x, const ImageSize& size) {
  const Floats d;
  const Words w;
  auto most = hn::Zero(w);
  for (std::size_t r = 0; r < size.rows; ++r) {
    const float* row = x.data + r * x.pitch;
    for_each_of_row(size.columns * size.channels, [&](std::size_t i) {
      most = hn::Max(most, hn::BitCast(w, hn::Abs(hn::LoadU(d, row + i))));
    });
  }
  return hn::GetLane(hn::MaxOfLanes(w, most));
}

HWY_INLINE hn::Vec<Floats> load_floats(const float* x) { return hn::LoadU(Floats(), x); }
HWY_INLINE hn::Vec<Floats> load_floats(const std::int32_t* x) {
  return hn::ConvertTo(Floats(), hn::LoadU(Words(), x));
}
HWY_INLINE hn::Vec<Floats> load_floats(const std::int8_t* x) {
  const hn::Rebind<std::int8_t, Words> narrow;
  return hn::ConvertTo(Floats(), hn::PromoteTo(Words(), hn::LoadU(narrow, x)));
}

template <class From, class To>
HWY_INLINE void quantize(Image<const From> x, const ImageSize& size, float factor,
                         Image<To> codes) {
  const Floats d;
  const hn::Rebind<To, Floats> narrow;
  const auto k = hn::Set(d, factor);
  for (std::size_t r = 0; r < size.rows; ++r) {
    const From* row = x.data + r * x.pitch;
    To* out = codes.data + r * codes.pitch;
    for_each_of_row(size.columns * size.channels, [&](std::size_t i) {
      const auto integers = nearest(hn::Mul(load_floats(row + i), k));
      hn::StoreU(hn::DemoteTo(narrow, integers), narrow, out + i);
    });
  }
}

void words_to_bytes(Image<const std::int32_t> x, const ImageSize& size, float factor,
                    Image<std::int8_t> codes) {
  quantize(x, size, factor, codes);
}
void floats_to_bytes(Image<const float> x, const ImageSize& size, float factor,
                     Image<std::int8_t> codes) {
  quantize(x, size, factor, codes);
}
void floats_to_shorts(Image<const float> x, const ImageSize& size, float factor,
                      Image<std::int16_t> codes) {
  quantize(x, size, factor, codes);
}

void round_bytes(const std::int16_t* g, const std::uint8_t* random, std::size_t size,
                 std::int8_t* codes) {
  const hn::CappedTag<std::int16_t, 16> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const hn::Rebind<std::int8_t, decltype(d)> narrow;
  for (std::size_t i = 0; i < size; i += hn::Lanes(d)) {
    const auto r = hn::PromoteTo(d, hn::LoadU(bytes, random + i));
    const auto sum = hn::Add(hn::LoadU(d, g + i), r);
    hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<8>(sum)), narrow, codes + i);
  }
}

void split_halves(const std::int16_t* g, std::int32_t share, std::size_t size, std::int8_t* high,
                  std::int8_t* low) {
  const Words w;
  const hn::Rebind<std::int16_t, Words> shorts;
  const hn::Rebind<std::int8_t, Words> narrow;
  const auto factor = hn::Set(w, share), half = hn::Set(w, 16384), centre = hn::Set(w, 128);
  for (std::size_t i = 0; i < size; i += hn::Lanes(w)) {
    const auto x = hn::PromoteTo(w, hn::LoadU(shorts, g + i));
    const auto whole = hn::ShiftRight<15>(hn::Add(hn::Mul(x, factor), half));
    const auto upper = hn::ShiftRight<8>(hn::Add(whole, centre));
    hn::StoreU(hn::DemoteTo(narrow, upper), narrow, high + i);
    hn::StoreU(hn::DemoteTo(narrow, hn::Sub(whole, hn::ShiftLeft<8>(upper))), narrow, low + i);
  }
}

template <class From>
HWY_INLINE void scale_image(Image<const From> from, const ImageSize& size, float scale, bool add,
                            Image<float> y) {
  const Floats d;
  const auto s = hn::Set(d, scale);
  for (std::size_t r = 0; r < size.rows; ++r) {
    const From* row = from.data + r * from.pitch;
    float* out = y.data + r * y.pitch;
    for_each_of_row(size.columns * size.channels, [&](std::size_t i) {
      const auto x = hn::Mul(load_floats(row + i), s);
      hn::StoreU(add ? hn::Add(hn::LoadU(d, out + i), x) : x, d, out + i);
    });
  }
}
void bytes_to_floats(Image<const std::int8_t> codes, const ImageSize& size, float scale, bool add,
                     Image<float> y) {
  scale_image(codes, size, scale, add, y);
}
void words_to_floats(Image<const std::int32_t> sums, const ImageSize& size, float scale, bool add,
                     Image<float> y) {
  scale_image(sums, size, scale, add, y);
}

std::int32_t words_and_bias(Image<const std::int32_t> sums, const ImageSize& size, float scale,
                            const float* bias, Image<float> y) {
  const Floats d;
  const Words w;
  const auto s = hn::Set(d, scale);
  auto most = hn::Zero(w);
  for (std::size_t r = 0; r < size.rows; ++r) {
    for (std::size_t p = 0; p < size.columns; ++p) {
      const std::int32_t* pixel = sums.data + r * sums.pitch + p * size.channels;
      float* out = y.data + r * y.pitch + p * size.channels;
      for_each_of_row(size.channels, [&](std::size_t c) {
        const auto t = hn::Add(hn::Mul(load_floats(pixel + c), s), hn::LoadU(d, bias + c));
        most = hn::Max(most, hn::BitCast(w, hn::Abs(t)));
        hn::StoreU(t, d, out + c);
      });
    }
  }
  return hn::GetLane(hn::MaxOfLanes(w, most));
}

}  // namespace hearsay::backend::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <bit>

namespace hearsay::backend::cpu {

HWY_EXPORT(magnitude_of_words);
HWY_EXPORT(magnitude_of_floats);
HWY_EXPORT(words_to_bytes);
HWY_EXPORT(floats_to_bytes);
HWY_EXPORT(floats_to_shorts);
HWY_EXPORT(round_bytes);
HWY_EXPORT(split_halves);
HWY_EXPORT(bytes_to_floats);
HWY_EXPORT(words_to_floats);
HWY_EXPORT(words_and_bias);

std::int32_t magnitude(Image<const std::int32_t> x, const ImageSize& size) {
  return HWY_DYNAMIC_DISPATCH(magnitude_of_words)(x, size);
}
float magnitude(Image<const float> x, const ImageSize& size) {
  return std::bit_cast<float>(HWY_DYNAMIC_DISPATCH(magnitude_of_floats)(x, size));
}
void to_codes(Image<const std::int32_t> x, const ImageSize& size, float factor,
              Image<std::int8_t> codes) {
  HWY_DYNAMIC_DISPATCH(words_to_bytes)(x, size, factor, codes);
}
void to_codes(Image<const float> x, const ImageSize& size, float factor, Image<std::int8_t> codes) {
  HWY_DYNAMIC_DISPATCH(floats_to_bytes)(x, size, factor, codes);
}
void to_codes(Image<const float> x, const ImageSize& size, float factor,
              Image<std::int16_t> codes) {
  HWY_DYNAMIC_DISPATCH(floats_to_shorts)(x, size, factor, codes);
}
void round_randomly(const std::int16_t* g, const std::uint8_t* random, std::size_t size,
                    std::int8_t* codes) {
  HWY_DYNAMIC_DISPATCH(round_bytes)(g, random, size, codes);
}
void to_halves(const std::int16_t* g, std::int32_t share, std::size_t size, std::int8_t* high,
               std::int8_t* low) {
  HWY_DYNAMIC_DISPATCH(split_halves)(g, share, size, high, low);
}
void to_floats(Image<const std::int8_t> codes, const ImageSize& size, float scale, bool add,
               Image<float> y) {
  HWY_DYNAMIC_DISPATCH(bytes_to_floats)(codes, size, scale, add, y);
}
void to_floats(Image<const std::int32_t> sums, const ImageSize& size, float scale, bool add,
               Image<float> y) {
  HWY_DYNAMIC_DISPATCH(words_to_floats)(sums, size, scale, add, y);
}
float add_bias(Image<const std::int32_t> sums, const ImageSize& size, float scale,
               const float* bias, Image<float> y) {
  return std::bit_cast<float>(HWY_DYNAMIC_DISPATCH(words_and_bias)(sums, size, scale, bias, y));
}

}  // namespace hearsay::backend::cpu
#endif  // HWY_ONCE
