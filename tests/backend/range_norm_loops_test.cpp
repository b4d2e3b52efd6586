#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearsay/backend/cpu/int8/range_norm.h"
#include "hearsay/core/random.h"
#include "support/instruction_set.h"

/// The vector loops of Range EvoNorm on codes against plain ones, which round to float after every
/// operation: equal to the bit, on every instruction set.
namespace hearsay::backend::cpu {
namespace {

constexpr ImageSize kSize{.rows = 6, .columns = 4, .channels = 32};
constexpr std::size_t kPitch = 5 * 32;

class RangeNormLoops : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    Random random(1, Purpose::kTest);
    for (std::size_t i = 0; i < kSize.rows * kPitch; ++i) {
      q_.push_back(static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127));
      residual_.push_back(static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127));
      g_.push_back(static_cast<float>(random.normal()));
    }
    for (std::size_t c = 0; c < kSize.channels; ++c) {
      n_.push_back(static_cast<float>(0.01 * random.normal()));  // some codes are outside
      a_.push_back(static_cast<float>(random.normal()));
      bias_.push_back(static_cast<float>(random.normal()));
    }
  }

  /// body(i, c) for every entry, pixels ascending.
  template <class Body>
  static void for_each(const Body& body) {
    for (std::size_t p = 0; p < kSize.pixels(); ++p) {
      for (std::size_t c = 0; c < kSize.channels; ++c) body(place(p) + c, c);
    }
  }
  static std::size_t place(std::size_t p) {
    return p / kSize.columns * kPitch + p % kSize.columns * kSize.channels;
  }

  float line(std::size_t i, std::size_t c) const {
    const float product = n_[c] * static_cast<float>(q_[i]);
    return product + 0.5f;
  }
  bool inside(std::size_t i, std::size_t c) const { return line(i, c) >= 0 && line(i, c) <= 1; }
  float gate(std::size_t i, std::size_t c) const { return std::clamp(line(i, c), 0.0f, 1.0f); }

  Image<const std::int8_t> codes() const { return {q_.data(), kPitch}; }

  const support::InstructionSet set_{GetParam()};
  std::vector<std::int8_t> q_, residual_;
  std::vector<float> g_, n_, a_, bias_;
};

TEST_P(RangeNormLoops, Forward) {
  for (const bool adds : {false, true}) {
    std::vector<float> y(q_.size());
    const float scale = 0.037f;
    const Image<const std::int8_t> residual{adds ? residual_.data() : nullptr, kPitch};
    const float most = gate_forward(codes(), kSize, n_.data(), a_.data(), bias_.data(), residual,
                                    scale, {y.data(), kPitch});
    float expected_most = 0;
    for_each([&](std::size_t i, std::size_t c) {
      const float scaled = a_[c] * static_cast<float>(q_[i]), gated = scaled * gate(i, c);
      float expected = gated + bias_[c];
      if (adds) {
        const float other = static_cast<float>(residual_[i]) * scale;
        expected = other + expected;
      }
      ASSERT_EQ(y[i], expected);
      expected_most = std::max(expected_most, std::abs(expected));
    });
    EXPECT_EQ(most, expected_most);
  }
}

TEST_P(RangeNormLoops, Sums) {
  std::vector<double> sum(32), product(32), square(32);
  gate_sums(codes(), {g_.data(), kPitch}, kSize, n_.data(), sum.data(), product.data(),
            square.data());
  for (std::size_t c = 0; c < kSize.channels; ++c) {
    double s = 0, p = 0, f = 0;
    for (std::size_t r = 0; r < kSize.rows; ++r) {
      float row_s = 0, row_p = 0, row_f = 0;
      for (std::size_t x = 0; x < kSize.columns; ++x) {
        const std::size_t i = place(r * kSize.columns + x) + c;
        const auto code = static_cast<float>(q_[i]);
        const float h = code * gate(i, c), gh = g_[i] * h, gx = g_[i] * code, gxx = gx * code;
        row_s += g_[i];
        row_p += gh;
        if (inside(i, c)) row_f += gxx;
      }
      s += static_cast<double>(row_s);
      p += static_cast<double>(row_p);
      f += static_cast<double>(row_f);
    }
    EXPECT_EQ(sum[c], s);
    EXPECT_EQ(product[c], p);
    EXPECT_EQ(square[c], f);
  }
}

TEST_P(RangeNormLoops, Backward) {
  std::vector<float> d(q_.size());
  gate_backward(codes(), {g_.data(), kPitch}, kSize, n_.data(), a_.data(), {d.data(), kPitch});
  int outside = 0;
  for_each([&](std::size_t i, std::size_t c) {
    const float step = n_[c] * static_cast<float>(q_[i]);
    const float slope = gate(i, c) + (inside(i, c) ? step : 0), scaled = a_[c] * g_[i];
    ASSERT_EQ(d[i], scaled * slope);
    outside += !inside(i, c);
  });
  EXPECT_GT(outside, 50);
}

/// Pieces end within rows.
TEST_P(RangeNormLoops, Extremes) {
  for (std::int8_t& code : q_) code = static_cast<std::int8_t>(code % 3);
  for (const std::size_t length : {1u, 3u, 8u, 24u}) {
    const std::size_t pieces = kSize.pixels() / length, size = pieces * kSize.channels;
    std::vector<std::int8_t> high(size), low(size);
    std::vector<std::int32_t> highs(size, 5), lows(size, 5);
    find_extremes(codes(), kSize, length, {high.data(), low.data(), highs.data(), lows.data()});
    std::vector<float> more(size), less(size), d(q_.size(), 1.0f);
    for (std::size_t k = 0; k < size; ++k) {
      more[k] = 0.25f * static_cast<float>(k + 1);
      less[k] = -0.5f * static_cast<float>(k + 1);
    }
    add_at_extremes(codes(), kSize, length, {high.data(), low.data(), more.data(), less.data()},
                    {d.data(), kPitch});
    for (std::size_t k = 0; k < size; ++k) {
      const std::size_t first = k / kSize.channels * length, c = k % kSize.channels;
      std::vector<int> values;
      for (std::size_t p = first; p < first + length; ++p) values.push_back(q_[place(p) + c]);
      ASSERT_EQ(high[k], std::ranges::max(values));
      ASSERT_EQ(low[k], std::ranges::min(values));
      ASSERT_EQ(highs[k], std::ranges::count(values, high[k]));
      ASSERT_EQ(lows[k], std::ranges::count(values, low[k]));
      for (std::size_t p = first; p < first + length; ++p) {
        const std::size_t i = place(p) + c;
        const float added = (q_[i] == high[k] ? more[k] : 0) + (q_[i] == low[k] ? less[k] : 0);
        ASSERT_EQ(d[i], 1.0f + added);
      }
    }
  }
}

TEST_P(RangeNormLoops, CountsBeyondABytesRange) {
  constexpr ImageSize kLarge{.rows = 20, .columns = 20, .channels = 16};
  const std::vector<std::int8_t> same(kLarge.size(), -7);
  std::vector<std::int8_t> high(16), low(16);
  std::vector<std::int32_t> highs(16), lows(16);
  find_extremes({same.data(), 20 * 16}, kLarge, 400,
                {high.data(), low.data(), highs.data(), lows.data()});
  EXPECT_EQ(high[3], -7);
  EXPECT_EQ(highs[3], 400);
  EXPECT_EQ(lows[15], 400);
}

INSTANTIATE_TEST_SUITE_P(Sets, RangeNormLoops,
                         ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& test) { return hwy::TargetName(test.param); });

}  // namespace
}  // namespace hearsay::backend::cpu
