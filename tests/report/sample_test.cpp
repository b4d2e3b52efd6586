#include "hearsay/report/sample.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearsay::report {
namespace {

std::vector<double> rounds(std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t k = 0; k < n; ++k) x[k] = 10.0 * static_cast<double>(k);
  return x;
}

TEST(Sample, LeavesAShortCurveAsItIs) {
  const std::vector<double> x = rounds(40), y(40, 1.0);
  EXPECT_EQ(sample(x, y, 10).size(), 40u);
  EXPECT_TRUE(sample({}, {}, 10).empty());
}

TEST(Sample, NeverLosesASpikeNorTheEnds) {
  const std::size_t n = 200'000;
  const std::vector<double> x = rounds(n);
  std::vector<double> y(n, 50.0);
  y[123'456] = 99;
  y[77'777] = 1;
  const auto kept = sample(x, y, 100);
  EXPECT_LE(kept.size(), 500u);
  for (std::size_t k : {std::size_t{0}, std::size_t{77'777}, std::size_t{123'456}, n - 1}) {
    EXPECT_EQ(std::ranges::count(kept, k), 1) << k;
  }
}

TEST(Sample, IsFineAtTheBeginningForALogarithmicAxis) {
  const std::size_t n = 100'000;
  const std::vector<double> x = rounds(n), y = rounds(n);
  const auto kept = sample(x, y, 200);
  std::size_t decades[5] = {};
  for (std::size_t k : kept) {
    if (k > 0) ++decades[static_cast<std::size_t>(std::log10(static_cast<double>(k)))];
  }
  for (std::size_t decade = 0; decade < 5; ++decade) EXPECT_GE(decades[decade], 9u) << decade;
}

TEST(Sample, KeepsGaps) {
  const std::vector<double> x = rounds(1000);
  std::vector<double> y(1000, 1.0);
  y[500] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(std::ranges::count(sample(x, y, 10), std::size_t{500}), 1);
}

/// Any curve, also with gaps, repeated rounds and rounds far apart.
RC_GTEST_PROP(Sample, KeepsTheExtremesOfEveryStretch, ()) {
  const auto stretches = *rc::gen::inRange<std::size_t>(2, 12);
  const auto steps = *rc::gen::container<std::vector<int>>(
      *rc::gen::inRange<std::size_t>(0, 400),
      rc::gen::weightedElement<int>({{5, 1}, {1, 0}, {1, 500}}));
  std::vector<double> x, y;
  for (int step : steps) {
    x.push_back((x.empty() ? 0 : x.back()) + step);
    const int value = *rc::gen::inRange(-20, 20);
    y.push_back(value == 0 ? std::nan("") : value);
  }
  const auto kept = sample(x, y, stretches);
  RC_ASSERT(std::ranges::is_sorted(kept));
  RC_ASSERT(std::ranges::adjacent_find(kept) == kept.end());
  if (x.size() <= 4 * stretches) {
    RC_ASSERT(kept.size() == x.size());
    return;
  }
  RC_ASSERT(kept.size() <= 5 * stretches);
  RC_ASSERT(kept.front() == 0);
  RC_ASSERT(kept.back() == x.size() - 1);
  // The equally wide stretches, computed from their definition.
  const std::size_t wide = stretches - stretches / 2;
  const double range = x.back() - x.front();
  if (range == 0) return;
  for (std::size_t s = 0; s < wide; ++s) {
    double low = 1e9, high = -1e9, kept_low = 1e9, kept_high = -1e9;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto at = static_cast<std::size_t>((x[k] - x[0]) / range * static_cast<double>(wide));
      if (std::min(at, wide - 1) != s || !std::isfinite(y[k])) continue;
      low = std::min(low, y[k]);
      high = std::max(high, y[k]);
      if (std::ranges::count(kept, k) == 0) continue;
      kept_low = std::min(kept_low, y[k]);
      kept_high = std::max(kept_high, y[k]);
    }
    RC_ASSERT(low == kept_low);
    RC_ASSERT(high == kept_high);
  }
}

}  // namespace
}  // namespace hearsay::report
