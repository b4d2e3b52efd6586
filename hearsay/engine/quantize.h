#pragma once

#include <bit>
#include <cstdint>

/// The numbers of networks in 8 bits: the one definition of every rounding, for all devices.
///
/// A tensor t of one sample is stored as codes q and a scale s, t = s q. With m = max |t|:
///
///   Q8    q = rne(t (127 / m))          in -127..127,       s = m / 127
///   Q16   g = rne(t (32512 / m))        in -32512..32512,   s = m / 32512      32512 = 127 x 256
///   SR8   q = (g + r) >> 8, r a random byte: on average g / 256, so its scale is 256 s
///   halves   g = 256 high + low, high = (g + 128) >> 8 in -127..127, low in -128..127
///
/// rne rounds to the nearest integer, ties to even. Operations are in single precision with one
/// rounding each; compile without contraction to fused ones. m below kSmallest counts as 0. A value
/// that is not a number makes m NaN (magnitude_bits), hence the scale and what is computed with it;
/// the codes, which are then any bytes, would hide it.
namespace hearsay::engine {

inline constexpr float kTop8 = 127, kTop16 = 32512;
inline constexpr float kSmallest = 0x1p-100f;  ///< kTop16 / m overflows below 2^-113

/// |x| as bits: these are ordered as the values, NaN beyond infinity, so their maximum is the
/// magnitude of the largest or NaN, in any order.
constexpr std::uint32_t magnitude_bits(float x) {
  return std::bit_cast<std::uint32_t>(x) & 0x7fffffffu;
}

/// What t is multiplied with: top / m, or 0.
constexpr float factor_of(float m, float top) { return m < kSmallest ? 0.0f : top / m; }

/// rne(x) for |x| < 2^22, without a conversion that is undefined for NaN: the sum's last bits are
/// the integer.
constexpr std::int32_t nearest_integer(float x) {
  constexpr float kShift = 0x1.8p23f;
  return std::bit_cast<std::int32_t>(x + kShift) - std::bit_cast<std::int32_t>(kShift);
}

/// s, where t = x unit and m = max |x|.
constexpr float scale_of(float m, float unit, float top) { return m * unit / top; }

/// Q8 and Q16 of a value, `factor` being factor_of(m, kTop8) or (m, kTop16).
constexpr std::int8_t code8(float t, float factor) {
  return static_cast<std::int8_t>(nearest_integer(t * factor));
}
constexpr std::int16_t code16(float t, float factor) {
  return static_cast<std::int16_t>(nearest_integer(t * factor));
}

/// SR8 of g, with a random byte.
constexpr std::int8_t stochastic8(std::int16_t g, std::uint8_t random) {
  return static_cast<std::int8_t>((g + random) >> 8);
}

constexpr std::int8_t high_half(std::int16_t g) { return static_cast<std::int8_t>((g + 128) >> 8); }
constexpr std::int8_t low_half(std::int16_t g) {
  return static_cast<std::int8_t>(g - 256 * high_half(g));
}

/// The gradient of a weight is a sum over samples whose scales r differ. In a chunk of samples with
/// R = max r, those of sample n are brought to the unit R: multiplied by share_of(r_n, R) / 2^15.
constexpr std::int32_t share_of(float r, float most) {
  if (!(most > 0) || !(r <= most)) return 0;  // NaN too
  if (r == most) return 32767;                // infinite ones too
  const std::int32_t share = nearest_integer(32768 * (r / most));
  return share > 32767 ? 32767 : share;
}
constexpr std::int16_t shared(std::int16_t g, std::int32_t share) {
  return static_cast<std::int16_t>((g * share + 16384) >> 15);
}

}  // namespace hearsay::engine
