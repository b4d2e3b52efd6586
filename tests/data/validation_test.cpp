#include "hearsay/data/validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "data/files.h"
#include "hearsay/core/error.h"
#include "hearsay/data/targets.h"

namespace hearsay::data {
namespace {

TEST(HoldOut, MovesTheFractionOfEveryClass) {
  const auto digits = make_dataset("digits");
  const auto held = hold_out(digits, 0.1, 5);
  EXPECT_EQ(held->train.size() + held->validation.size(), digits->train.size());
  EXPECT_EQ(held->test.inputs, digits->test.inputs);
  EXPECT_EQ(held->scale, digits->scale);
  EXPECT_EQ(held->height, digits->height);
  for (std::uint16_t label = 0; label < 10; ++label) {
    const auto all = static_cast<double>(std::ranges::count(digits->train.labels(), label));
    EXPECT_EQ(std::ranges::count(held->validation.labels(), label), std::lround(0.1 * all));
  }
}

TEST(HoldOut, KeepsEverySampleOnceWithItsLabel) {
  Dataset own{.name = "own", .channels = 2, .classes = 3};
  for (std::size_t i = 0; i < 60; ++i) {
    own.train.inputs.as<float>().insert(own.train.inputs.as<float>().end(),
                                        {static_cast<float>(i), 0.5f});
    own.train.labels().push_back(static_cast<std::uint16_t>(i % 3));
  }
  const auto held = hold_out(std::make_shared<const Dataset>(own), 0.25, 1);
  EXPECT_EQ(held->validation.size(), 15u);
  EXPECT_EQ(held->validation.inputs.type(), ElementType::kF32);
  std::vector<float> seen;
  for (const Samples* part : {&held->train, &held->validation}) {
    EXPECT_EQ(part->inputs.as<float>().size(), 2 * part->size());
    for (std::size_t i = 0; i < part->size(); ++i) {
      EXPECT_EQ(static_cast<std::size_t>(part->inputs.as<float>()[2 * i]) % 3, part->labels()[i]);
      seen.push_back(part->inputs.as<float>()[2 * i]);
    }
  }
  std::ranges::sort(seen);
  for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(seen[i], static_cast<float>(i));
}

TEST(HoldOut, IsAFunctionOfTheSeed) {
  const auto digits = make_dataset("digits");
  EXPECT_EQ(hold_out(digits, 0.2, 1)->validation.inputs,
            hold_out(digits, 0.2, 1)->validation.inputs);
  EXPECT_NE(hold_out(digits, 0.2, 1)->validation.inputs,
            hold_out(digits, 0.2, 2)->validation.inputs);
}

TEST(HoldOut, OfNothingIsTheDatasetItself) {
  const auto digits = make_dataset("digits");
  EXPECT_EQ(hold_out(digits, 0, 1), digits);
}

TEST(HoldOut, NeverTakesTheLastSampleOfAClass) {
  Dataset own{.name = "own", .classes = 3};
  own.train.labels() = {0, 0, 0, 1, 1};  // none of class 2
  own.train.inputs.as<float>() = {1, 2, 3, 4, 5};
  const auto held = hold_out(std::make_shared<const Dataset>(own), 0.99, 1);
  EXPECT_EQ(held->train.labels(), (std::vector<std::uint16_t>{0, 1}));
}

TEST(HoldOut, DrawsFromAllSamplesOfARegression) {
  Dataset own{.name = "own"};
  for (std::size_t i = 0; i < 20; ++i) {
    const auto value = static_cast<float>(i);
    own.train.inputs.as<float>().push_back(value);
    own.train.targets.as<float>().insert(own.train.targets.as<float>().end(), {value, -value});
  }
  own.train.targets_each = 2;
  set_target_scale(own);
  const auto held = hold_out(std::make_shared<const Dataset>(own), 0.25, 1);
  EXPECT_EQ(held->train.size(), 15u);
  ASSERT_EQ(held->validation.size(), 5u);
  EXPECT_EQ(held->target_mean, own.target_mean);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(held->validation.targets.as<float>()[2 * i + 1],
              -held->validation.inputs.as<float>()[i]);
  }
  EXPECT_EQ(message_of([&] { hold_out(held, 0.01, 1); }),
            "[validation] 0.01 of 15 training samples is no sample; give a larger fraction");
}

TEST(HoldOut, SaysWhatIsWrong) {
  const auto digits = make_dataset("digits");
  for (const double fraction : {-0.1, 1.0, 2.0}) {
    EXPECT_EQ(message_of([&] { hold_out(digits, fraction, 1); }),
              fmt::format("[validation] must be in [0, 1), got {}", fraction));
  }
  EXPECT_EQ(message_of([&] { hold_out(digits, 0.001, 1); }),
            "[validation] 0.001 of 1442 training samples in 10 classes is no sample of any class; "
            "give a larger fraction");
}

}  // namespace
}  // namespace hearsay::data
