#pragma once

#include <bit>
#include <cstdint>

namespace hearsay::compress {

// Conversions between float and the two 16-bit formats, rounding to nearest, ties to even. Finite
// numbers that are too large become the largest finite one; infinities stay; any NaN becomes one
// quiet NaN of the same sign. Widening is exact.

/// IEEE binary16: 5 exponent and 10 fraction bits, largest 65504, smallest 2^-24.
constexpr std::uint16_t to_half(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude >= 0x7f800000u) {
    half = magnitude == 0x7f800000u ? 0x7c00u : 0x7e00u;
  } else if (magnitude >= 0x477fe000u) {  // 65504
    half = 0x7bffu;
  } else if (magnitude <
             0x38800000u) {  // 2^-14: adding 1/2 leaves multiples of 2^-24 in the fraction
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

constexpr float from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  std::uint32_t bits = 0;
  if (magnitude >= 0x7c00u) {
    bits = 0x7f800000u | (magnitude & 0x3ffu) << 13;
  } else if (magnitude < 0x400u) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  } else {
    bits = (magnitude << 13) + 0x38000000u;
  }
  return std::bit_cast<float>(sign | bits);
}

/// bfloat16: the upper half of a float.
constexpr std::uint16_t to_bfloat(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t upper = (magnitude + 0x7fffu + (magnitude >> 16 & 1u)) >> 16;
  if (magnitude >= 0x7f800000u) {
    upper = magnitude == 0x7f800000u ? 0x7f80u : 0x7fc0u;
  } else if (upper >= 0x7f80u) {
    upper = 0x7f7fu;
  }
  return static_cast<std::uint16_t>(sign | upper);
}

constexpr float from_bfloat(std::uint16_t upper) {
  return std::bit_cast<float>(std::uint32_t{upper} << 16);
}

}  // namespace hearsay::compress
