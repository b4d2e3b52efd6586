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
///
/// What networks compute with them is defined to the bit too, for all devices; plain loops are in
/// tests/engine/int8/reference.h. An operation reads codes q with a scale s per sample and g, the
/// gradient of its output in floats; products a b c are (a b) c, sums of codes are exact.
///
/// - Images and weights: Q8, a tensor of weights being one sample.
/// - Convolution: I = sum of q q_w. Without a bias Q8(I) in units of u = s s_w, so its scale is
///   (m u) / 127; with one Q8(I u + bias). Linear: Q8(I u + bias) always, no bias being 0; the
///   network's outputs are not quantized.
/// - Backward of both: d = Q16(g), with the scale s_d.
///   Data: (sum of q_w SR8(d)) ((256 s_d) s_w).
///   Biases: += the sum of g over the pixels of a sample, by rows, in double.
///   Weights: += R J for every chunk of 8 consecutive samples, where r = s s_d for each of them,
///   R = max r and J = sum of q shared(d, share_of(r, R)), in 64 bits, rounded to float.
/// - Random bytes of operation o: entry e = ((n H + row) W + column) C + channel takes byte e % 16
///   of block o 2^36 + e / 16 of the stream kQuantize, the lowest byte of a word first. n is the
///   sample's number in the batch, C the channels rounded up to a multiple of 16.
/// - Addition: Q8(q s + q_2 s_2). One that follows a norm (fuse.h) is made before the norm's Q8.
/// - Relu, max pool: of codes. g goes where q > 0, and to a window's first maximum by rows.
/// - Mean of P pixels: Q8(sum of q) in units of s / P; backward g (1 / P).
/// - Dropout: s (1 / (1 - rate)) and g (1 / (1 - rate)); what is dropped is 0.
/// - A value with several readers: their gradients are added, that of the last reader first.
/// - Loss: in double, a chunk of 8 samples at a time; its gradient is rounded to float.
///
/// Range EvoNorm with a hard gate, T being the sum of the ranges of a group's 16 runs of codes,
/// kappa and epsilon floats:
///
///   S = 1 / (kappa s T 0.0625 + epsilon),   l = v s / 6,   t = clamp(l q + 1/2, 0, 1)
///   Q8(weight S s q t + bias),   or Q8(weight S s q t + bias + q_2 s_2)
///
/// Backward, "inside" being 0 <= l q + 1/2 <= 1: the sums over a channel's pixels B of g, P of
/// g (q t) and, inside, V of g q q are made in float along a row and in double over the rows. In
/// double, then rounded to float, and added sample by sample:
///
///   bias += B,   weight += S s P,   v += weight S s s / 6 V,
///   D = -kappa S S (sum of weight s P over the group's channels) / 16
///   data: weight S g (t + l q inside) + (D / k at the k maxima of a run + -D / k at its k minima)
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
/// the integer; those of kRoundingShift are 0, so of nearest_bits the lower 22 are all that codes
/// need.
inline constexpr float kRoundingShift = 0x1.8p23f;
constexpr std::uint32_t nearest_bits(float x) {
  return std::bit_cast<std::uint32_t>(x + kRoundingShift);
}
constexpr std::int32_t nearest_integer(float x) {
  return static_cast<std::int32_t>(nearest_bits(x) - std::bit_cast<std::uint32_t>(kRoundingShift));
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
