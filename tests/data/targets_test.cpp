#include "hearsay/data/targets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hearsay/data/partition.h"
#include "support/message_of.h"

namespace hearsay::data {
namespace {

using support::message_of;

Dataset with_targets(std::vector<float> targets, std::size_t each) {
  Dataset own{.name = "own"};
  own.train.targets_each = each;
  own.train.targets = TypedArray(std::move(targets));
  return own;
}

TEST(Targets, AreStandardizedOneByOne) {
  // Means 3 and 250; deviations 2 and 50.
  Dataset own = with_targets({1, 200, 5, 300, 1, 300, 5, 200}, 2);
  own.test = with_targets({7, 250}, 2).train;
  set_target_scale(own);
  EXPECT_EQ(own.target_mean, (std::vector<float>{3, 250}));
  EXPECT_EQ(own.target_deviation, (std::vector<float>{2, 50}));
  std::vector<float> seen(2);
  read_targets(own, own.train, 1, seen);
  EXPECT_EQ(seen, (std::vector<float>{1, 1}));
  read_targets(own, own.test, 0, seen);
  EXPECT_EQ(seen, (std::vector<float>{2, 0})) << "by the scale of the training part";
}

TEST(Targets, ThatDoNotVaryKeepDeviationOne) {
  Dataset own = with_targets({0.1f, 7, 0.1f, 8, 0.1f, 9}, 2);
  set_target_scale(own);
  EXPECT_EQ(own.target_deviation[0], 1);
  EXPECT_NEAR(own.target_deviation[1], std::sqrt(2.0 / 3), 1e-7);
}

/// The mean of many equal floats is rounded: 203 times 0.1 has a deviation of about 1e-17.
TEST(Targets, ThatAreTheSameDoNotDeviateAtAll) {
  const std::vector<float> same(203, 0.1f);
  EXPECT_EQ(squared_deviations(with_targets(same, 1).train), (std::vector<double>{0}));
}

TEST(Targets, ThatVaryTooLittleForTheirSizeAreRefused) {
  Dataset own = with_targets({2e9f, 2.0000004e9f, 2.0000008e9f}, 1);
  EXPECT_EQ(message_of([&] { set_target_scale(own); }),
            "[own] target 0 of a sample varies too little for its size: its deviation is 314 and "
            "its mean 2e+09, which 32-bit floats hardly tell apart; subtract an offset, or scale "
            "it up");
}

TEST(Targets, OfAnySizeHaveAFiniteScale) {
  Dataset own = with_targets({-3.35e38f, 3.35e38f}, 1);
  set_target_scale(own);
  float found = 0;
  read_targets(own, own.train, 1, {&found, 1});
  EXPECT_EQ(found, 1);
}

TEST(Targets, DeviateFromTheMeanOfTheirOwnSet) {
  EXPECT_EQ(squared_deviations(with_targets({1, 200, 5, 300}, 2).train),
            (std::vector<double>{8, 5000}));
  EXPECT_EQ(squared_deviations({}), (std::vector<double>{0}));
}

TEST(TargetTenths, CutTheFirstTargetIntoTenEqualParts) {
  std::vector<float> targets;
  for (int i = 0; i < 100; ++i) {
    targets.push_back(static_cast<float>(i * 37 % 100));  // 0 to 99, mixed
    targets.push_back(5);
  }
  const Dataset own = with_targets(targets, 2);
  const std::vector<std::uint16_t> tenths = target_tenths(own.train);
  ASSERT_EQ(tenths.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(tenths[i], i * 37 % 100 / 10);
}

TEST(TargetTenths, KeepEqualTargetsTogether) {
  EXPECT_EQ(target_tenths(with_targets({5, 5, 5, 5, 9}, 1).train),
            (std::vector<std::uint16_t>{0, 0, 0, 0, 8}));
  EXPECT_EQ(target_tenths(with_targets({3}, 1).train), (std::vector<std::uint16_t>{0}));
}

/// What `skew` and `dirichlet` mean for numbers.
TEST(TargetTenths, SortSamplesToPeersWhereLabelsWould) {
  std::vector<float> targets;
  for (int i = 0; i < 1000; ++i) targets.push_back(static_cast<float>(i * 387 % 1000));
  const Dataset own = with_targets(targets, 1);
  const std::vector<std::uint16_t> tenths = target_tenths(own.train);
  const auto means = [&](std::string_view spec) {
    std::vector<double> all;
    for (const auto& part : partition(spec, tenths, kTenths, 5, 1)) {
      double sum = 0;
      for (const std::uint32_t i : part) sum += static_cast<double>(targets[i]);
      all.push_back(sum / static_cast<double>(part.size()));
    }
    return all;
  };
  const std::vector<double> sorted = means("by-label"), mixed = means("iid");
  for (std::size_t peer = 0; peer < 5; ++peer) {
    EXPECT_NEAR(sorted[peer], 99.5 + 200 * static_cast<double>(peer), 1e-9);
    EXPECT_NEAR(mixed[peer], 499.5, 70);  // deviation 289 / sqrt(200) = 20
  }
  const std::vector<double> partly = means("skew:0.8");
  EXPECT_LT(partly.front(), 300);
  EXPECT_GT(partly.back(), 700);
}

}  // namespace
}  // namespace hearsay::data
