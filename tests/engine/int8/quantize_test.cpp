#include "hearsay/engine/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearsay::engine {
namespace {

TEST(Quantize, RoundsToTheNearestIntegerTiesToEven) {
  for (double x = -32512; x <= 32512; x += 0.125) {
    ASSERT_EQ(nearest_integer(static_cast<float>(x)), std::nearbyint(x)) << x;
  }
}

TEST(Quantize, ReachesBothEndsAndNoFurther) {
  for (const float m : {1e-25f, 0.3f, 1.0f, 7.7f, 1e30f}) {
    const float eight = factor_of(m, kTop8), sixteen = factor_of(m, kTop16);
    EXPECT_EQ(code8(m, eight), 127);
    EXPECT_EQ(code8(-m, eight), -127);
    EXPECT_EQ(code16(m, sixteen), 32512);
    EXPECT_EQ(code16(-m, sixteen), -32512);
  }
  EXPECT_EQ(factor_of(0, kTop8), 0);
  EXPECT_EQ(factor_of(0x1p-101f, kTop16), 0);
  EXPECT_TRUE(std::isfinite(factor_of(kSmallest, kTop16)));
}

TEST(Quantize, HalvesMakeTheWhole) {
  for (int g = -32512; g <= 32512; ++g) {
    const auto whole = static_cast<std::int16_t>(g);
    ASSERT_EQ(256 * high_half(whole) + low_half(whole), g);
    ASSERT_GE(high_half(whole), -127);
  }
}

TEST(Quantize, StochasticRoundingIsExactOnAverage) {
  for (int g = -32512; g <= 32512; ++g) {
    int sum = 0;
    for (int r = 0; r < 256; ++r) {
      const int code = stochastic8(static_cast<std::int16_t>(g), static_cast<std::uint8_t>(r));
      ASSERT_GE(code, -127);
      sum += code;
    }
    ASSERT_EQ(sum, g);
  }
}

TEST(Quantize, BringsSamplesToOneUnit) {
  EXPECT_EQ(share_of(2, 2), 32767);
  EXPECT_EQ(share_of(1, 2), 16384);
  EXPECT_EQ(share_of(0, 2), 0);
  EXPECT_EQ(share_of(0, 0), 0);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(share_of(kInfinity, kInfinity), 32767);
  EXPECT_EQ(share_of(1, kInfinity), 0);
  EXPECT_EQ(share_of(std::nanf(""), 1), 0);
  EXPECT_EQ(share_of(1, std::nanf("")), 0);
  EXPECT_EQ(shared(20000, share_of(1, 2)), 10000);
  EXPECT_EQ(shared(-20001, share_of(1, 2)), -10000);  // -10000.5, up
  for (const int g : {-32512, 32512}) {
    EXPECT_LE(std::abs(shared(static_cast<std::int16_t>(g), 32767)), 32512);
  }
}

TEST(Quantize, FindsWhatIsNoNumberAmongMagnitudes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_LT(magnitude_bits(-1e30f), magnitude_bits(kInfinity));
  EXPECT_LT(magnitude_bits(kInfinity), magnitude_bits(std::nanf("")));
  EXPECT_LT(magnitude_bits(-kInfinity), magnitude_bits(-std::nanf("")));
  EXPECT_EQ(magnitude_bits(-2.5f), magnitude_bits(2.5f));
  EXPECT_TRUE(std::isnan(factor_of(std::nanf(""), kTop8)));
}

}  // namespace
}  // namespace hearsay::engine
