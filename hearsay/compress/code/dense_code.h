#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

/// Make q a dense vector of d floats, to be overwritten.
inline void make_dense(Decoded& q, std::size_t d) {
  q.sparse = false;
  q.index.clear();
  q.value.clear();
  q.dense.resize(d);
}

/// Bytes of one f32 for each non-empty tensor.
inline std::size_t scale_bytes(const Layout& layout) {
  std::size_t tensors = 0;
  for (const Segment& segment : layout.segments()) tensors += segment.size > 0 ? 1 : 0;
  return sizeof(float) * tensors;
}

/// The sum of f(x_i) in double: eight interleaved partial sums, then those in order. So the order
/// is the same on every machine, and additions are independent of each other.
template <class F>
double sum(std::span<const float> x, F f) {
  std::array<double, 8> part{};
  std::size_t i = 0;
  for (; i + 8 <= x.size(); i += 8) {
    for (std::size_t j = 0; j < 8; ++j) part[j] += f(static_cast<double>(x[i + j]));
  }
  for (; i < x.size(); ++i) part[i % 8] += f(static_cast<double>(x[i]));
  double total = 0;
  for (const double p : part) total += p;
  return total;
}

/// x with its sign flipped if `minus` is 1, also for NaN.
inline float flip(float x, std::uint32_t minus) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ minus << 31);
}

/// 1 for a minus sign.
inline std::uint32_t sign_bit(float x) { return std::bit_cast<std::uint32_t>(x) >> 31; }

}  // namespace hearsay::compress
