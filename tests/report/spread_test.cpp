#include "hearsay/report/spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hearsay::report {
namespace {

TEST(Spread, IsTheSampleStandardDeviation) {
  const Spread spread = spread_of(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(32.0 / 7)) << "over n - 1, not n";
  EXPECT_EQ(spread.n, 8u);
}

TEST(Spread, OfTwoIsTheirDifferenceOverTheRootOfTwo) {
  EXPECT_DOUBLE_EQ(spread_of(std::vector<double>{90, 92}).deviation, std::sqrt(2.0));
}

TEST(Spread, OfOneOrNoneIsNone) {
  EXPECT_EQ(spread_of(std::vector<double>{3}).deviation, 0);
  EXPECT_EQ(spread_of(std::vector<double>{3}).mean, 3);
  EXPECT_TRUE(std::isnan(spread_of(std::vector<double>{}).mean));
}

TEST(Spread, OfLargeNumbersThatDifferLittleIsExact) {
  EXPECT_DOUBLE_EQ(spread_of(std::vector<double>{1e15, 1e15 + 1, 1e15 + 2}).deviation, 1);
}

}  // namespace
}  // namespace hearsay::report
