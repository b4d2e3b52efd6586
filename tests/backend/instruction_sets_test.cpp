#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "hearsay/backend/cpu/loops.h"
#include "support/instruction_set.h"

namespace hearsay::backend::cpu {
namespace {

/// Without fused multiply-add what a product loses must be found in another way. The last entries
/// are those of a loop over single floats.
TEST(InstructionSets, CompensatedMixingScalesFarBeyondFloats) {
  constexpr float kKeep = 0.7f;
  constexpr std::size_t kSize = 67;
  constexpr float kNoShare[2] = {0, 0};
  std::vector<std::vector<float>> results;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const support::InstructionSet set(target);
    ASSERT_STREQ(instruction_set(), hwy::TargetName(target));
    std::vector<float> x(kSize), low(kSize), own(kSize);
    for (std::size_t i = 0; i < kSize; ++i) x[i] = std::sin(static_cast<float>(i) + 1);
    const std::vector<float> before = x;
    constexpr int kRounds = 10;
    for (int round = 0; round < kRounds; ++round) {
      mix_row_compensated(kNoShare, own.data(), nullptr, nullptr, 0, kKeep, x.data(), low.data(),
                          kSize);
    }
    for (std::size_t i = 0; i < kSize; ++i) {
      const double expected =
          std::pow(static_cast<double>(kKeep), kRounds) * static_cast<double>(before[i]);
      ASSERT_NEAR(static_cast<double>(x[i]) + static_cast<double>(low[i]), expected,
                  1e-13 * std::abs(expected))
          << i;
    }
    results.push_back(x);
  }
  ASSERT_FALSE(results.empty());
  for (const std::vector<float>& x : results) EXPECT_EQ(x, results.front());
}

TEST(InstructionSets, SumTheSameProducts) {
  constexpr std::size_t kMost = 150, kCount = 5, kStride = 3;
  std::vector<float> rows(kCount * kMost), factors(kCount * kStride), sum(kMost);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % 23) - 11;
  for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = static_cast<float>(k % 7) - 3;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const support::InstructionSet set(target);
    for (const std::size_t n : {1u, 7u, 16u, 67u, 150u}) {  // small integers: all sums are exact
      sum_rows(factors.data(), kStride, rows.data(), kCount, sum.data(), n);
      float product = 0;
      for (std::size_t i = 0; i < n; ++i) {
        float expected = 0;
        for (std::size_t k = 0; k < kCount; ++k) {
          expected += factors[k * kStride] * rows[k * n + i];
        }
        EXPECT_EQ(sum[i], expected) << i << " of " << n;
        product += rows[i] * rows[n + i];
      }
      EXPECT_EQ(dot(rows.data(), rows.data() + n, n), product) << n;
    }
  }
}

}  // namespace
}  // namespace hearsay::backend::cpu
