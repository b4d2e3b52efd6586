#include "hearsay/backend/cpu/normalize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearsay/backend/cpu/loops.h"

namespace hearsay::backend::cpu {
namespace {

constexpr float kOne[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
constexpr float kZero[16] = {};

/// One sample of `x.size()` pixels with 16 identical channels.
std::vector<float> repeated(const std::vector<float>& x) {
  std::vector<float> tiles;
  for (float value : x) tiles.insert(tiles.end(), 16, value);
  return tiles;
}

TEST(Evo, HoldsForValuesFarFromZero) {
  const std::vector<float> values = {-1e30f, -1000, -179, -178, -104, -88, -20, 20, 150, 1000};
  const std::vector<float> x = repeated(values);
  std::vector<float> y(x.size());
  const Tiles tiles{.samples = 1, .channels = 16, .pixels = values.size(), .block = 16};
  evo(x.data(), tiles, Gate::kLogistic, {kOne}, {kOne}, {kZero}, nullptr, y.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = static_cast<double>(x[i]) / (1 + std::exp(-static_cast<double>(x[i])));
    EXPECT_NEAR(y[i], expected, 1e-6 * std::abs(expected) + 1e-6) << x[i];
  }
}

TEST(Evo, ShowsWhatIsNoNumber) {
  const std::vector<float> x = repeated({std::nanf(""), 1});
  std::vector<float> y(x.size());
  for (const Gate gate : {Gate::kLogistic, Gate::kHard}) {
    evo(x.data(), {.samples = 1, .channels = 16, .pixels = 2, .block = 16}, gate, {kOne}, {kOne},
        {kZero}, nullptr, y.data());
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_FALSE(std::isnan(y[16]));
  }
}

TEST(Evo, HasAHardGateThatEndsAtThree) {
  const std::vector<float> values = {-1000, -3.001f, -2.999f, -1, 0, 1, 2.999f, 3.001f, 1000};
  const std::vector<float> x = repeated(values), ones(x.size(), 1.0f);
  std::vector<float> y(x.size()), dx(x.size());
  const Tiles tiles{.samples = 1, .channels = 16, .pixels = values.size(), .block = 16};
  evo(x.data(), tiles, Gate::kHard, {kOne}, {kOne}, {kZero}, nullptr, y.data());
  evo_backward(ones.data(), x.data(), tiles, Gate::kHard, {kOne}, {kOne}, {kZero}, {kZero},
               dx.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double t = static_cast<double>(x[i]), line = t / 6 + 0.5;
    const double gate = std::clamp(line, 0.0, 1.0), slope = std::abs(t) <= 3 ? t / 6 : 0;
    EXPECT_NEAR(y[i], t * gate, 1e-6 * std::abs(t)) << t;
    EXPECT_NEAR(dx[i], gate + slope, 1e-6) << t;
  }
}

TEST(PieceExtremes, CountEqualValues) {
  const std::vector<float> x = repeated({1, 3, 3, -2, 5, 5, 5, 5});
  const Tiles tiles{.samples = 1, .channels = 16, .pixels = 8, .block = 16};
  std::vector<float> high(32), low(32), highs(32), lows(32);
  const Extremes found{high.data(), low.data(), highs.data(), lows.data()};
  piece_extremes(x.data(), tiles, 4, found);
  EXPECT_EQ(high[7], 3);
  EXPECT_EQ(highs[7], 2);
  EXPECT_EQ(low[7], -2);
  EXPECT_EQ(lows[7], 1);
  EXPECT_EQ(high[16 + 7], 5);
  EXPECT_EQ(highs[16 + 7], 4);
  EXPECT_EQ(lows[16 + 7], 4);

  std::vector<float> dx(x.size(), 0.0f);
  add_at_extremes(x.data(), tiles, 4, found, dx.data());
  const std::vector<float> expected = {0, 2, 2, 1, 8, 8, 8, 8};
  EXPECT_EQ(dx, repeated(expected));
}

TEST(Affine, ShowsWhatIsNoNumberAlsoThroughRelu) {
  const std::vector<float> x = repeated({std::nanf("")});
  std::vector<float> y(x.size());
  for (bool relu_after : {false, true}) {
    for (const float* residual : {static_cast<const float*>(nullptr), x.data()}) {
      affine(x.data(), {.samples = 1, .channels = 16, .pixels = 1, .block = 16}, {kOne}, {kZero},
             residual, relu_after, y.data());
      EXPECT_TRUE(std::isnan(y[3]));
    }
  }
  relu(x.data(), y.data(), x.size());
  EXPECT_TRUE(std::isnan(y[3]));
}

TEST(Moments, DoNotSufferFromALargeMean) {
  std::vector<float> values;
  for (int k = 0; k < 101; ++k) values.push_back(1e4f + static_cast<float>(k % 2));
  const std::vector<float> x = repeated(values);
  std::vector<float> mean(16), square(16);
  moments(x.data(), {.samples = 1, .channels = 16, .pixels = 101, .block = 16}, mean.data(),
          square.data());
  EXPECT_NEAR(mean[5], 1e4 + 50.0 / 101, 1e-3);
  EXPECT_NEAR(square[5], 50 - 50.0 * 50 / 101, 1e-3);
}

TEST(ClearPadding, LeavesChannelsAloneAndTheRestZero) {
  const Tiles tiles{.samples = 2, .channels = 5, .pixels = 3, .block = 4};
  std::vector<float> x(tiles.size(), 1.0f);
  clear_padding(x.data(), tiles);
  float sum = 0;
  for (float value : x) sum += value;
  EXPECT_EQ(sum, 2 * 5 * 3);
  EXPECT_EQ(x[tiles.at(1, 4, 2)], 1.0f);
}

}  // namespace
}  // namespace hearsay::backend::cpu
