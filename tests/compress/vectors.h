#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

/// Bitwise equality, including NaNs.
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  }
  return true;
}

inline bool same_bits(const Decoded& a, const Decoded& b) {
  return a.sparse == b.sparse && a.index == b.index && same_bits(a.value, b.value) &&
         same_bits(a.dense, b.dense);
}

/// Whether q is a valid vector of d entries, of any values.
inline bool well_formed(const Decoded& q, std::size_t d) {
  if (!q.sparse) return q.dense.size() == d && q.index.empty() && q.value.empty();
  const auto repeat = std::ranges::adjacent_find(q.index, std::greater_equal<>());
  return q.dense.empty() && q.index.size() == q.value.size() && repeat == q.index.end() &&
         (q.index.empty() || q.index.back() < d);
}

/// C(x) as a dense vector.
inline std::vector<float> expand(const Decoded& q, std::size_t d) {
  if (!q.sparse) return q.dense;
  std::vector<float> x(d);
  for (std::size_t i = 0; i < q.index.size(); ++i) x.at(q.index[i]) = q.value[i];
  return x;
}

inline double squared_norm(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * v;
  return sum;
}

inline double squared_error(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    sum += e * e;
  }
  return sum;
}

inline std::vector<float> normal_vector(std::size_t n, std::uint64_t seed, float scale = 1) {
  Random random(seed, Purpose::kTest);
  std::vector<float> x(n);
  for (float& v : x) v = scale * static_cast<float>(random.normal());
  return x;
}

}  // namespace hearsay::compress
