#include "hearsay/report/pareto.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearsay::report {
namespace {

using Indices = std::vector<std::size_t>;

TEST(ParetoFront, IsWhatNobodyOutdoes) {
  EXPECT_EQ(pareto_front(std::vector{1.0, 10.0, 10.0, 100.0, 50.0},
                         std::vector{92.0, 91.0, 90.0, 85.0, 84.0}),
            (Indices{0, 1, 3}));
}

TEST(ParetoFront, HasAllOfEqualPointsAndNoneThatIsNotFinite) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(
      pareto_front(std::vector{5.0, nan, 5.0, inf, 1.0}, std::vector{7.0, 99.0, 7.0, 99.0, inf}),
      (Indices{0, 2}));
  EXPECT_TRUE(pareto_front({}, {}).empty());
}

TEST(ParetoFront, DoesNotTellNearlyEqualOnesApart) {
  const std::vector x{60.0, 60.024}, y{96.5, 94.2};
  EXPECT_EQ(pareto_front(x, y), (Indices{0, 1}));
  EXPECT_EQ(pareto_front(x, y, 0.01), Indices{0});
}

/// The definition, for few values so that ties are common.
RC_GTEST_PROP(ParetoFront, AgreesWithItsDefinition, ()) {
  const auto xy = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 8), rc::gen::inRange(0, 8)));
  std::vector<double> x, y;
  for (const auto& [a, b] : xy) {
    x.push_back(a);
    y.push_back(b);
  }
  const double same = *rc::gen::element(0.0, 0.4);
  const Indices front = pareto_front(x, y, same);
  for (std::size_t i = 0; i < x.size(); ++i) {
    bool outdone = false;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const bool more = x[j] > x[i] * (1 + same), no_less = x[j] * (1 + same) >= x[i];
      outdone |= no_less && y[j] >= y[i] && (more || y[j] > y[i]);
    }
    RC_ASSERT((std::ranges::count(front, i) == 1) == !outdone);
  }
  for (std::size_t k = 1; k < front.size(); ++k) {
    RC_ASSERT(x[front[k - 1]] <= x[front[k]]);
    RC_ASSERT(y[front[k - 1]] >= y[front[k]]);
  }
}

}  // namespace
}  // namespace hearsay::report
