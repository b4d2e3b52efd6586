#include "hearsay/data/agreement.h"

#include <gtest/gtest.h>

#include <numeric>

#include "hearsay/core/error.h"
#include "hearsay/data/partition.h"

namespace hearsay::data {
namespace {

/// Two columns of a table; the classes are in the order in which its file has them.
std::shared_ptr<Dataset> table(std::vector<std::string> names) {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = "csv";
  dataset->channels = 2;
  dataset->classes = names.size();
  dataset->class_names = std::move(names);
  dataset->mean = {1, 2};
  dataset->deviation = {3, 4};
  dataset->train.inputs = TypedArray(std::vector<float>{1, 2, 3, 4});
  dataset->train.targets = TypedArray(std::vector<std::uint16_t>{0, 1});
  dataset->test.inputs = TypedArray(std::vector<float>{5, 6});
  dataset->test.targets = TypedArray(std::vector<std::uint16_t>{1});
  return dataset;
}

const Agreement kPets{.classes = {"bird", "cat", "dog"}, .mean = {10}, .deviation = {2, 5}};

/// What the refusal says.
std::string refusal(const std::shared_ptr<const Dataset>& dataset, const Agreement& agreement) {
  try {
    adopt(dataset, agreement);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "it is not refused";
}

TEST(Agreement, IsReadFromSettings) {
  const Agreement agreement = parse_agreement("cat,dog", "0.5,-2", "1");
  EXPECT_EQ(agreement.classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(agreement.mean, (std::vector<float>{0.5, -2}));
  EXPECT_EQ(agreement.deviation, std::vector<float>{1});
  const Agreement none = parse_agreement("none", "none", "none");
  EXPECT_TRUE(none.classes.empty() && none.mean.empty() && none.deviation.empty());
  for (const auto& [classes, mean, deviation] :
       std::vector<std::array<const char*, 3>>{{"cat,cat", "none", "none"},
                                               {"none", "1,x", "none"},
                                               {"none", "nan", "none"},
                                               {"none", "1,", "none"},
                                               {"none", "none", "0"},
                                               {"none", "none", "-1"},
                                               {"none", "none", "inf"}}) {
    EXPECT_THROW(parse_agreement(classes, mean, deviation), InvalidArgument)
        << classes << " " << mean << " " << deviation;
  }
}

TEST(Agreement, GivesClassesTheLabelsOfAllDevices) {
  const auto one = adopt(table({"dog", "cat"}), kPets), other = adopt(table({"cat", "dog"}), kPets);
  EXPECT_EQ(one->train.labels(), (std::vector<std::uint16_t>{2, 1}));
  EXPECT_EQ(one->test.labels(), std::vector<std::uint16_t>{1});
  EXPECT_EQ(other->train.labels(), (std::vector<std::uint16_t>{1, 2}));
  EXPECT_EQ(one->classes, 3u);
  EXPECT_EQ(one->class_names, kPets.classes);
  EXPECT_EQ(one->mean, (std::vector<float>{10, 10}));
  EXPECT_EQ(one->deviation, (std::vector<float>{2, 5}));
}

/// An npz file without a label 0 names its classes by their labels: those of the fleet, or places
/// among them.
TEST(Agreement, LabelsOfArraysAreNamesOrPlaces) {
  const auto arrays = table({"1", "2"});
  arrays->name = "npz";
  Agreement fleet = kPets;
  EXPECT_EQ(adopt(arrays, fleet)->train.labels(), (std::vector<std::uint16_t>{1, 2}));
  fleet.classes = {"2", "1"};
  EXPECT_EQ(adopt(arrays, fleet)->train.labels(), (std::vector<std::uint16_t>{1, 0}));
  fleet.classes = {"cat", "dog"};
  EXPECT_EQ(refusal(arrays, fleet),
            "[partition] own data of npz: it has a class '2', which is not among classes = "
            "['cat', 'dog']");
}

TEST(Agreement, LeavesTheDatasetOfOthersAsItIs) {
  const auto dataset = table({"dog", "cat"});
  adopt(dataset, kPets);
  EXPECT_EQ(dataset->train.labels(), (std::vector<std::uint16_t>{0, 1}));
  EXPECT_EQ(dataset->mean, (std::vector<float>{1, 2}));
}

TEST(Agreement, RefusesWhatDevicesCouldDifferIn) {
  EXPECT_EQ(refusal(table({"dog", "cow"}), kPets),
            "[partition] own data of csv: it has a class 'cow', which is not among classes = "
            "['bird', 'cat', 'dog']");
  EXPECT_EQ(refusal(table({"dog", "cat"}), {.mean = {0}, .deviation = {1}}),
            "[partition] own data of csv: the fleet must say which classes there are, since "
            "devices may have others; this one has classes = ['dog', 'cat']");
  EXPECT_EQ(refusal(table({"dog", "cat"}), {.classes = kPets.classes}),
            "[partition] own data of csv: the fleet must say mean and deviation, since each device "
            "has its own; those of this one are mean = [1, 2], deviation = [3, 4]");
  EXPECT_EQ(refusal(table({"dog", "cat"}), {.classes = kPets.classes, .mean = {1}}),
            "[partition] own data of csv: of mean and deviation one is given; give both");
  EXPECT_EQ(refusal(table({"dog", "cat"}),
                    {.classes = kPets.classes, .mean = {1, 2, 3}, .deviation = {1}}),
            "[partition] own data of csv: mean has 3 numbers, and a sample has 2 channels");
  const auto numbered = table({"0", "1"});
  numbered->class_names.clear();
  EXPECT_EQ(refusal(numbered, {.classes = {"only"}, .mean = {0}, .deviation = {1}}),
            "[partition] own data of csv: it has labels up to 1, and classes are only 1");
  numbered->classes = 0;
  EXPECT_NE(refusal(numbered, kPets).find("numbers cannot be predicted yet"), std::string::npos);
}

TEST(Agreement, NeedsNothingForADatasetThatIsTheSameEverywhere) {
  const auto dataset = table({"0", "1"});
  dataset->name = "mnist";
  dataset->class_names.clear();
  const auto adopted = adopt(dataset, {});
  EXPECT_EQ(adopted->classes, 2u);
  EXPECT_EQ(adopted->mean, dataset->mean);
}

TEST(OwnPartition, GivesAllSamplesToThePeer) {
  const Partition parts = own_partition(3, 1, 4);
  EXPECT_EQ(parts, (Partition{{}, {0, 1, 2, 3}, {}}));
}

}  // namespace
}  // namespace hearsay::data
