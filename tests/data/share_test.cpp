#include "hearsay/data/share.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hearsay/data/targets.h"
#include "hearsay/data/validation.h"

namespace hearsay::data {
namespace {

/// 20 samples of two numbers; sample i is (i, -i) of class i % 3.
std::shared_ptr<const Dataset> numbers() {
  Dataset own{.name = "own", .channels = 2, .classes = 3};
  for (std::size_t i = 0; i < 20; ++i) {
    const auto value = static_cast<float>(i);
    own.train.inputs.as<float>().insert(own.train.inputs.as<float>().end(), {value, -value});
    own.train.labels().push_back(static_cast<std::uint16_t>(i % 3));
  }
  own.test.inputs.as<float>() = {1, 2};
  own.test.labels() = {1};
  return std::make_shared<const Dataset>(own);
}

const Partition kParts = {{19, 3}, {7, 0}, {12, 1}, {5, 18}};

TEST(Share, HoldsTheSamplesOfItsPeersAndTheExtraOnesAlone) {
  const auto whole = numbers();
  const std::vector<std::uint32_t> extra = {3, 12, 3, 17};
  const Share share = take_share(whole, kParts, 1, 2, extra);
  const auto value_of = [&](std::uint32_t sample) {
    EXPECT_EQ(share.dataset->train.inputs.as<float>()[2 * sample + 1],
              -share.dataset->train.inputs.as<float>()[2 * sample]);
    const float value = share.dataset->train.inputs.as<float>()[2 * sample];
    EXPECT_EQ(share.dataset->train.labels()[sample], static_cast<std::uint16_t>(value) % 3);
    return static_cast<std::uint32_t>(value);
  };
  EXPECT_EQ(share.dataset->train.size(), 6u);  // 0, 1, 3, 7, 12, 17
  EXPECT_EQ(share.dataset->train.inputs.as<float>().size(), 12u);
  ASSERT_EQ(share.parts.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(share.parts[i].size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(value_of(share.parts[i][k]), kParts[i + 1][k]);
  }
  ASSERT_EQ(share.extra.size(), extra.size());
  for (std::size_t k = 0; k < extra.size(); ++k) EXPECT_EQ(value_of(share.extra[k]), extra[k]);
  EXPECT_EQ(share.dataset->test.inputs.as<float>(), whole->test.inputs.as<float>());
}

TEST(Share, OfARegressionKeepsItsScaleAndHasNoClasses) {
  Dataset own{.name = "own"};
  for (std::size_t i = 0; i < 20; ++i) {
    own.train.inputs.as<float>().push_back(static_cast<float>(i));
    own.train.targets.as<float>().push_back(static_cast<float>(10 * i));
  }
  own.test = own.train;
  set_target_scale(own);
  const auto whole = std::make_shared<const Dataset>(own);
  const Share share = take_share(whole, kParts, 1, 2, {});
  EXPECT_TRUE(share.class_counts.empty());
  EXPECT_EQ(share.dataset->train.targets.as<float>(), (std::vector<float>{0, 10, 70, 120}));
  EXPECT_EQ(share.dataset->target_mean, whole->target_mean);
  EXPECT_EQ(share.dataset->target_deviation, whole->target_deviation);
  EXPECT_EQ(share.sha256(), sha256_of(*whole));
}

TEST(Share, KnowsWhatTheWholeWas) {
  const auto whole = numbers();
  const Share share = take_share(whole, kParts, 3, 1, {});
  EXPECT_EQ(share.sha256(), sha256_of(*whole));
  EXPECT_NE(sha256_of(*share.dataset), sha256_of(*whole));
  EXPECT_EQ(share.class_counts, class_counts(kParts, whole->train.labels(), whole->classes));
  EXPECT_EQ(share.class_counts.size(), kParts.size());
}

TEST(Share, OfAllPeersIsTheDatasetItself) {
  const auto whole = numbers();
  const Share share = take_share(whole, kParts, 0, kParts.size(), {3, 17});
  EXPECT_EQ(share.dataset, whole);
  EXPECT_EQ(share.parts, kParts);
  EXPECT_EQ(share.extra, (std::vector<std::uint32_t>{3, 17}));
  EXPECT_EQ(share.sha256(), sha256_of(*whole));
}

TEST(Share, LetsGoOfTheWhole) {
  std::shared_ptr<const Dataset> whole = numbers();
  const std::weak_ptr<const Dataset> watched = whole;
  const Share share = take_share(std::move(whole), kParts, 0, 1, {});
  EXPECT_TRUE(watched.expired());
}

TEST(Share, HoldsImagesAndEverythingElseThatTheDatasetSays) {
  const auto whole = hold_out(make_dataset("digits"), 0.1, 1);
  const Partition parts = partition("iid", whole->train.labels(), whole->classes, 4, 1);
  const Share share = take_share(whole, parts, 2, 1, {});
  const std::size_t features = whole->stored_features();
  ASSERT_EQ(share.dataset->train.size(), parts[2].size());
  for (std::size_t k = 0; k < parts[2].size(); ++k) {
    EXPECT_TRUE(std::ranges::equal(share.dataset->train.image(share.parts[0][k], features),
                                   whole->train.image(parts[2][k], features)));
  }
  EXPECT_EQ(share.dataset->validation.inputs, whole->validation.inputs);
  EXPECT_EQ(share.dataset->test.labels(), whole->test.labels());
  EXPECT_EQ(share.dataset->scale, whole->scale);
  EXPECT_EQ(share.dataset->classes, whole->classes);
  EXPECT_EQ(share.dataset->features(), whole->features());
}

}  // namespace
}  // namespace hearsay::data
