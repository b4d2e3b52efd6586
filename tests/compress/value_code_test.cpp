#include "hearsay/compress/code/value_code.h"

#include <gtest/gtest.h>

#include <limits>

#include "compress/vectors.h"
#include "hearsay/compress/code/float16.h"

namespace hearsay::compress {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Float16, EveryHalfComesBack) {
  for (std::uint32_t code = 0; code < 1u << 16; ++code) {
    const float wide = from_half(static_cast<std::uint16_t>(code));
    if (std::isnan(wide)) {
      EXPECT_EQ(to_half(wide), (code & 0x8000u) | 0x7e00u);
    } else {
      ASSERT_EQ(to_half(wide), code);
    }
  }
}

TEST(Float16, EveryBfloatComesBack) {
  for (std::uint32_t code = 0; code < 1u << 16; ++code) {
    const float wide = from_bfloat(static_cast<std::uint16_t>(code));
    if (std::isnan(wide)) {
      EXPECT_EQ(to_bfloat(wide), (code & 0x8000u) | 0x7fc0u);
    } else {
      ASSERT_EQ(to_bfloat(wide), code);
    }
  }
}

TEST(Float16, HasTheStandardValues) {
  EXPECT_EQ(from_half(0x3c00), 1.0f);
  EXPECT_EQ(from_half(0xc000), -2.0f);
  EXPECT_EQ(from_half(0x0001), 0x1p-24f);
  EXPECT_EQ(from_half(0x0400), 0x1p-14f);
  EXPECT_EQ(from_half(0x7bff), 65504.0f);
  EXPECT_EQ(from_half(0x7c00), kInf);
}

/// Numbers between two neighbours of the format round to the nearer one, ties to even.
template <std::uint16_t (*narrow)(float), float (*widen)(std::uint16_t)>
void expect_nearest_even(std::uint16_t largest) {
  for (std::uint16_t code = 0; code < largest; ++code) {
    const float low = widen(code);
    const float high = widen(static_cast<std::uint16_t>(code + 1));
    const float middle = low + (high - low) / 2;
    const auto even = static_cast<std::uint16_t>(code + code % 2);
    ASSERT_EQ(narrow(middle), even);
    ASSERT_EQ(narrow(-middle), even | 0x8000);
    ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), code);
    ASSERT_EQ(narrow(std::nextafter(middle, kInf)), code + 1);
  }
}

TEST(Float16, RoundsToNearestEven) {
  expect_nearest_even<to_half, from_half>(0x7bff);
  expect_nearest_even<to_bfloat, from_bfloat>(0x7f7f);
}

TEST(Float16, SaturatesFiniteNumbersOnly) {
  EXPECT_EQ(from_half(to_half(1e30f)), 65504.0f);
  EXPECT_EQ(from_half(to_half(-65519.0f)), -65504.0f);
  EXPECT_EQ(from_half(to_half(-kInf)), -kInf);
  EXPECT_TRUE(std::isnan(from_half(to_half(kNan))));
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(from_bfloat(to_bfloat(most)), from_bfloat(0x7f7f));
  EXPECT_EQ(from_bfloat(to_bfloat(kInf)), kInf);
  EXPECT_TRUE(std::isnan(from_bfloat(to_bfloat(-kNan))));
}

TEST(ValueCode, EightBitLevelsAreMultiplesOfTheUnitsLargest) {
  const std::vector<Unit> units{{0, 10, 3}, {10, 10, 2}};
  std::vector<float> values{-127, 63.4f, 0.4f, 1, -0.25f};
  round_values(ValueFormat::kQ8, units, values, nullptr);
  EXPECT_EQ(values[0], -127);
  EXPECT_FLOAT_EQ(values[1], 63);
  EXPECT_EQ(values[2], 0);
  EXPECT_EQ(values[3], 1);
  EXPECT_FLOAT_EQ(values[4], -32.0f / 127);
}

TEST(ValueCode, EightBitLevelsTurnNanWithTheirUnitOnly) {
  const std::vector<Unit> units{{0, 2, 2}, {2, 2, 2}};
  for (const float bad : {kInf, -kInf, kNan}) {
    std::vector<float> values{1, bad, 3, 4};
    round_values(ValueFormat::kQ8, units, values, nullptr);
    EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
    EXPECT_TRUE(std::isfinite(values[2]));
    EXPECT_EQ(values[3], 4);
  }
}

TEST(ValueCode, QualityHoldsOverTheNormalRange) {
  for (const ValueFormat format :
       {ValueFormat::kF32, ValueFormat::kF16, ValueFormat::kBf16, ValueFormat::kQ8}) {
    for (const float scale : {1e-3f, 1.0f, 10'000.0f}) {
      std::vector<float> values = normal_vector(5000, 3, scale);
      for (float& v : values) v = std::copysign(std::max(std::abs(v), 1e-4f), v);
      const std::vector<float> before = values;
      const std::vector<Unit> units{{0, 5000, 5000}};
      round_values(format, units, values, nullptr);
      EXPECT_LE(squared_error(before, values),
                (1 - value_quality(format, 5000)) * squared_norm(before));
    }
  }
}

TEST(ValueCode, RoundingNeverAddsErrorWhateverTheRange) {
  for (const ValueFormat format : {ValueFormat::kF16, ValueFormat::kBf16, ValueFormat::kQ8}) {
    for (const float scale : {1e-45f, 1e-38f, 1e-20f, 1e-8f, 1e20f, 1e38f}) {
      for (const float v : {1.0f, -1.3f, 1.9f, 2.99f}) {
        std::vector<float> value{v * scale};
        const float before = value[0];
        round_values(format, std::vector<Unit>{{0, 1, 1}}, value, nullptr);
        EXPECT_LE(std::abs(before - value[0]), std::abs(before)) << before;
      }
    }
  }
}

}  // namespace
}  // namespace hearsay::compress
