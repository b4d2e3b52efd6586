#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hearsay/backend/cpu/int8/loops.h"
#include "hearsay/core/random.h"
#include "hearsay/engine/quantize.h"
#include "support/instruction_set.h"

/// The vector loops against the definitions of quantize.h, on every instruction set.
namespace hearsay::engine {
namespace {

using backend::cpu::Image;
using backend::cpu::ImageSize;

constexpr ImageSize kSize{.rows = 3, .columns = 5, .channels = 32};
constexpr std::size_t kPitch = 7 * 32;

class QuantizeLoops : public ::testing::TestWithParam<std::int64_t> {
 protected:
  /// body(i) for every entry of an image of that pitch.
  template <class Body>
  static void for_each(const Body& body) {
    for (std::size_t r = 0; r < kSize.rows; ++r) {
      for (std::size_t k = 0; k < kSize.columns * kSize.channels; ++k) body(r * kPitch + k);
    }
  }

  /// Entries between the rows are large, and must not be seen.
  static std::vector<float> random_floats() {
    std::vector<float> x(kSize.rows * kPitch, 1e9f);
    Random random(1, Purpose::kTest);
    for_each([&](std::size_t i) { x[i] = static_cast<float>(random.normal()); });
    return x;
  }

  const support::InstructionSet set_{GetParam()};
};

TEST_P(QuantizeLoops, FloatsBecomeCodes) {
  std::vector<float> x = random_floats();
  float most = 0;
  for_each([&](std::size_t i) { most = std::max(most, std::abs(x[i])); });
  const float m = backend::cpu::magnitude(Image<const float>{x.data(), kPitch}, kSize);
  EXPECT_EQ(m, most);
  std::vector<std::int8_t> bytes(x.size(), 99);
  std::vector<std::int16_t> shorts(x.size(), 99);
  const float eight = factor_of(m, kTop8), sixteen = factor_of(m, kTop16);
  backend::cpu::to_codes({x.data(), kPitch}, kSize, eight,
                         Image<std::int8_t>{bytes.data(), kPitch});
  backend::cpu::to_codes({x.data(), kPitch}, kSize, sixteen,
                         Image<std::int16_t>{shorts.data(), kPitch});
  for_each([&](std::size_t i) {
    ASSERT_EQ(bytes[i], code8(x[i], eight));
    ASSERT_EQ(shorts[i], code16(x[i], sixteen));
  });
  EXPECT_EQ(bytes[6 * 32], 99) << "beyond the end of a row";

  std::vector<float> back(x.size(), 1.0f);
  backend::cpu::to_floats({bytes.data(), kPitch}, kSize, m / kTop8, true, {back.data(), kPitch});
  for_each([&](std::size_t i) {
    ASSERT_EQ(back[i], 1.0f + static_cast<float>(bytes[i]) * (m / kTop8));
    ASSERT_NEAR(back[i] - 1, x[i], 0.51f * m / kTop8);
  });
}

TEST_P(QuantizeLoops, NoNumberIsHidden) {
  for (const float bad : {std::nanf(""), -std::nanf(""), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x = random_floats();
    x[kPitch + 40] = bad;
    EXPECT_FALSE(
        std::isfinite(backend::cpu::magnitude(Image<const float>{x.data(), kPitch}, kSize)));
  }
}

TEST_P(QuantizeLoops, SumsBecomeCodes) {
  std::vector<std::int32_t> x(kSize.rows * kPitch, 1 << 30);
  Random random(2, Purpose::kTest);
  std::int32_t most = 0;
  for_each([&](std::size_t i) {
    x[i] = static_cast<std::int32_t>(random.below(60'000'001)) - 30'000'000;
    most = std::max(most, std::abs(x[i]));
  });
  EXPECT_EQ(backend::cpu::magnitude(Image<const std::int32_t>{x.data(), kPitch}, kSize), most);
  const float factor = factor_of(static_cast<float>(most), kTop8);
  std::vector<std::int8_t> bytes(x.size());
  backend::cpu::to_codes(Image<const std::int32_t>{x.data(), kPitch}, kSize, factor,
                         {bytes.data(), kPitch});
  for_each([&](std::size_t i) { ASSERT_EQ(bytes[i], code8(static_cast<float>(x[i]), factor)); });
}

TEST_P(QuantizeLoops, GradientsAreRoundedAndSplit) {
  constexpr std::size_t kCount = 160;
  Random random(3, Purpose::kTest);
  std::vector<std::int16_t> g(kCount);
  std::vector<std::uint8_t> bytes(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    g[i] = static_cast<std::int16_t>(static_cast<int>(random.below(65025)) - 32512);
    bytes[i] = static_cast<std::uint8_t>(random.below(256));
  }
  g[0] = 32512;
  g[1] = -32512;
  bytes[0] = bytes[1] = 255;
  std::vector<std::int8_t> codes(kCount), high(kCount), low(kCount);
  backend::cpu::round_randomly(g.data(), bytes.data(), kCount, codes.data());
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(codes[i], stochastic8(g[i], bytes[i]));
  for (const std::int32_t share : {32767, 20000, 1, 0}) {
    backend::cpu::to_halves(g.data(), share, kCount, high.data(), low.data());
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::int16_t whole = shared(g[i], share);
      ASSERT_EQ(high[i], high_half(whole));
      ASSERT_EQ(low[i], low_half(whole));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, QuantizeLoops,
                         ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& test) { return hwy::TargetName(test.param); });

}  // namespace
}  // namespace hearsay::engine
