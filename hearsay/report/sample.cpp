#include "hearsay/report/sample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace hearsay::report {

namespace {

/// Append the points kept of the stretch [begin, end).
void keep(std::span<const double> y, std::size_t begin, std::size_t end,
          std::vector<std::size_t>& kept) {
  const std::size_t none = end;
  std::size_t lowest = none, highest = none, gap = none;
  for (std::size_t k = begin; k < end; ++k) {
    if (!std::isfinite(y[k])) {
      if (gap == none) gap = k;
      continue;
    }
    if (lowest == none || y[k] < y[lowest]) lowest = k;
    if (highest == none || y[k] > y[highest]) highest = k;
  }
  for (std::size_t k : {begin, lowest, highest, gap, end - 1}) {
    if (k != none) kept.push_back(k);
  }
}

/// position(k) in [0, 1] is ascending.
template <class Position>
void keep_stretches(std::span<const double> y, std::size_t stretches, const Position& position,
                    std::vector<std::size_t>& kept) {
  std::size_t begin = 0;
  const auto stretch_of = [&](std::size_t k) {
    return std::min(static_cast<std::size_t>(position(k) * static_cast<double>(stretches)),
                    stretches - 1);
  };
  for (std::size_t k = 1; k <= y.size(); ++k) {
    if (k < y.size() && stretch_of(k) == stretch_of(begin)) continue;
    keep(y, begin, k, kept);
    begin = k;
  }
}

}  // namespace

std::vector<std::size_t> sample(std::span<const double> x, std::span<const double> y,
                                std::size_t stretches) {
  assert(x.size() == y.size() && stretches >= 2);
  const std::size_t n = x.size();
  std::vector<std::size_t> kept(n);
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (n <= 4 * stretches) return kept;
  kept.clear();

  const double first = x.front(), range = x.back() - x.front();
  const std::size_t half = stretches / 2;
  const auto plain = [&](std::size_t k) {
    return range > 0 && std::isfinite(range) ? (x[k] - first) / range
                                             : static_cast<double>(k) / static_cast<double>(n - 1);
  };
  keep_stretches(y, stretches - half, plain, kept);
  // Starts at the mean distance of two points: log(x) has no lower bound.
  const auto whole = static_cast<double>(n);
  keep_stretches(
      y, half, [&](std::size_t k) { return std::log1p(plain(k) * whole) / std::log1p(whole); },
      kept);
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

}  // namespace hearsay::report
