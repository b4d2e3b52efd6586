#include "hearsay/data/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "hearsay/core/error.h"
#include "hearsay/core/sha256.h"

namespace hearsay::data {

void PrintTo(const DatasetEntry& entry, std::ostream* out) { *out << entry.name; }

namespace {

/// Every dataset of the registry is complete and consistent.
class DatasetContract : public ::testing::TestWithParam<DatasetEntry> {};

TEST_P(DatasetContract, HasImagesAndLabelsThatFit) {
  const auto dataset = make_dataset(GetParam().example);
  EXPECT_EQ(dataset->name, GetParam().name);
  EXPECT_GT(dataset->scale, 0);
  for (const Samples* part : {&dataset->train, &dataset->test}) {
    ASSERT_GT(part->size(), 0u);
    EXPECT_EQ(part->pixels.size(), part->size() * dataset->features());
    const std::set<std::uint16_t> labels(part->labels.begin(), part->labels.end());
    EXPECT_EQ(labels.size(), dataset->classes) << "every class is in both parts";
    EXPECT_LT(*labels.rbegin(), dataset->classes);
  }
}

TEST_P(DatasetContract, SaysWhereItIsFrom) {
  EXPECT_NE(GetParam().source.find("licence"), std::string_view::npos);
}

INSTANTIATE_TEST_SUITE_P(Registry, DatasetContract, ::testing::ValuesIn(dataset_registry()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Digits, AreTheUciSet) {
  const auto digits = make_dataset("digits");
  EXPECT_EQ(digits->height, 8u);
  EXPECT_EQ(digits->width, 8u);
  EXPECT_EQ(digits->channels, 1u);
  EXPECT_EQ(digits->train.size(), 1442u);
  EXPECT_EQ(digits->test.size(), 355u);
  EXPECT_EQ(*std::ranges::max_element(digits->train.pixels), 16);
  EXPECT_EQ(digits->scale * 16, 1.0f);

  std::vector<std::size_t> counts(10, 0);
  for (std::uint16_t label : digits->train.labels) ++counts[label];
  for (std::uint16_t label : digits->test.labels) ++counts[label];
  EXPECT_EQ(counts, (std::vector<std::size_t>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
}

TEST(Digits, HaveTheirChecksum) {
  const auto digits = make_dataset("digits");
  Sha256 hash;
  for (const Samples* part : {&digits->train, &digits->test}) {
    hash.update(part->pixels);
    hash.update(part->labels.data(), part->labels.size() * sizeof(std::uint16_t));
  }
  EXPECT_EQ(hash.finish_hex(), "4b2ad748c3401182706dc42cb4c06dccebf00d1d58bb91ac5b4052a08d2bad33");
}

TEST(Digits, BeginWithAZero) {
  const auto digits = make_dataset("digits");
  const auto image = digits->train.image(0, digits->features());
  EXPECT_EQ(digits->train.labels[0], 0);
  EXPECT_EQ(std::vector<int>(image.begin(), image.begin() + 16),
            (std::vector<int>{0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13, 15, 10, 15, 5, 0}));
}

TEST(MakeDataset, NamesWhatThereIsWhenAskedForTheUnknown) {
  try {
    make_dataset("digit");
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "[data] no data is named 'digit' (did you mean 'digits'?); there are digits");
  }
}

}  // namespace
}  // namespace hearsay::data
