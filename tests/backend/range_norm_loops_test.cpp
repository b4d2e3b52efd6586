#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hearsay/backend/cpu/int8/range_norm.h"
#include "hearsay/core/random.h"
#include "hearsay/engine/quantize.h"
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
    const float scale = 0.037f;
    const GateInput input{.q = codes(),
                          .size = kSize,
                          .n = n_.data(),
                          .a = a_.data(),
                          .bias = bias_.data(),
                          .residual = {adds ? residual_.data() : nullptr, kPitch},
                          .residual_scale = scale};
    const float most = gate_magnitude(input), factor = engine::factor_of(most, engine::kTop8);
    std::vector<std::int8_t> y(q_.size());
    gate_codes(input, factor, {y.data(), kPitch});
    float expected_most = 0;
    for_each([&](std::size_t i, std::size_t c) {
      const float scaled = a_[c] * static_cast<float>(q_[i]), gated = scaled * gate(i, c);
      float expected = gated + bias_[c];
      if (adds) {
        const float other = static_cast<float>(residual_[i]) * scale;
        expected = other + expected;
      }
      ASSERT_EQ(y[i], engine::code8(expected, factor));
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

/// Pieces end within rows.
TEST_P(RangeNormLoops, Backward) {
  for (std::int8_t& code : q_) code = static_cast<std::int8_t>(code / 8 * 8);  // ties
  for (const std::size_t length : {1u, 3u, 8u, 24u}) {
    const std::size_t entries = kSize.pixels() / length * kSize.channels;
    std::vector<std::int8_t> high(entries), low(entries);
    find_extremes(codes(), kSize, length, high.data(), low.data());
    std::vector<float> at_high(entries), at_low(entries), d(q_.size());
    for (std::size_t k = 0; k < entries; ++k) {
      at_high[k] = 0.25f * static_cast<float>(k + 1);
      at_low[k] = -0.5f * static_cast<float>(k + 1);
    }
    gate_backward(codes(), {g_.data(), kPitch}, kSize, n_.data(), a_.data(),
                  {.length = length,
                   .high = high.data(),
                   .low = low.data(),
                   .at_high = at_high.data(),
                   .at_low = at_low.data()},
                  {d.data(), kPitch});
    int outside = 0, extreme = 0;
    for (std::size_t p = 0; p < kSize.pixels(); ++p) {
      for (std::size_t c = 0; c < kSize.channels; ++c) {
        const std::size_t i = place(p) + c, k = p / length * kSize.channels + c;
        const float step = n_[c] * static_cast<float>(q_[i]);
        const float slope = gate(i, c) + (inside(i, c) ? step : 0), scaled = a_[c] * g_[i];
        const float own = scaled * slope;
        const float added = (q_[i] == high[k] ? at_high[k] : 0) + (q_[i] == low[k] ? at_low[k] : 0);
        ASSERT_EQ(d[i], own + added);
        outside += !inside(i, c);
        extreme += q_[i] == high[k];
      }
    }
    EXPECT_GT(outside, 50);
    EXPECT_GE(extreme, entries);
  }
}

/// Samples whose vectors hold several pixels, a part of one, or exactly one; pieces that fill
/// vectors and pieces that do not; more equal codes than a counter of 8 bits holds.
TEST_P(RangeNormLoops, Extremes) {
  struct Sample {
    ImageSize size;
    std::size_t pitch;
    std::vector<std::size_t> lengths;
  };
  const Sample samples[] = {
      {{6, 4, 32}, 5 * 32, {1, 3, 8, 24}}, {{16, 8, 16}, 9 * 16, {4, 8, 32, 64, 128}},
      {{4, 4, 64}, 4 * 64, {1, 2, 8, 16}}, {{3, 5, 128}, 6 * 128, {5, 15}},
      {{3, 7, 48}, 8 * 48, {7, 3, 21}},    {{40, 40, 16}, 41 * 16, {1600, 100}},
      {{20, 20, 64}, 20 * 64, {400}},
  };
  Random random(2, Purpose::kTest);
  for (const auto& [size, pitch, lengths] : samples) {
    std::vector<std::int8_t> q(size.rows * pitch);
    for (std::int8_t& code : q) code = static_cast<std::int8_t>(random.below(3));
    for (const std::size_t length : lengths) {
      const std::size_t entries = size.pixels() / length * size.channels;
      std::vector<std::int8_t> high(entries), low(entries);
      std::vector<std::int32_t> highs(entries, 5), lows(entries, 5);
      const Image<const std::int8_t> image{q.data(), pitch};
      find_extremes(image, size, length, high.data(), low.data());
      count_extremes(image, size, length, high.data(), low.data(), highs.data(), lows.data());
      for (std::size_t k = 0; k < entries; ++k) {
        const std::size_t first = k / size.channels * length, c = k % size.channels;
        std::vector<int> values;
        for (std::size_t p = first; p < first + length; ++p) {
          values.push_back(q[p / size.columns * pitch + p % size.columns * size.channels + c]);
        }
        ASSERT_EQ(high[k], std::ranges::max(values));
        ASSERT_EQ(low[k], std::ranges::min(values));
        ASSERT_EQ(highs[k], std::ranges::count(values, high[k]));
        ASSERT_EQ(lows[k], std::ranges::count(values, low[k]));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, RangeNormLoops,
                         ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& test) { return hwy::TargetName(test.param); });

}  // namespace
}  // namespace hearsay::backend::cpu
