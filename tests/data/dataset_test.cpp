#include "hearsay/data/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "data/files.h"
#include "hearsay/core/error.h"
#include "hearsay/core/registry.h"
#include "hearsay/core/sha256.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/model/models.h"

namespace hearsay::data {

void PrintTo(const DatasetEntry& entry, std::ostream* out) { *out << entry.name; }

namespace {

/// Every dataset of the registry is complete and consistent.
class DatasetContract : public ::testing::TestWithParam<DatasetEntry> {};

TEST_P(DatasetContract, HasImagesAndLabelsThatFit) {
  const Scratch scratch;
  const auto dataset = make_dataset(write_example(GetParam().name, scratch.path()));
  EXPECT_EQ(dataset->name, GetParam().name);
  EXPECT_GT(dataset->scale, 0);
  for (const std::vector<float>* list : {&dataset->mean, &dataset->deviation}) {
    EXPECT_TRUE(list->empty() || list->size() == dataset->channels);
  }
  for (float deviation : dataset->deviation) EXPECT_GT(deviation, 0);
  EXPECT_TRUE(dataset->class_names.empty() || dataset->class_names.size() == dataset->classes);
  for (const Samples* part : {&dataset->train, &dataset->test}) {
    ASSERT_GT(part->size(), 0u);
    EXPECT_EQ(part->inputs.size(), part->size() * dataset->stored_features());
    EXPECT_EQ(part->inputs.type(), dataset->train.inputs.type());
    EXPECT_EQ(part->targets.type(), ElementType::kU16);
    const std::set<std::uint16_t> labels(part->labels().begin(), part->labels().end());
    EXPECT_EQ(labels.size(), dataset->classes) << "every class is in both parts";
    EXPECT_LT(*labels.rbegin(), dataset->classes);
  }
  EXPECT_EQ(dataset->validation.size(), 0u);
}

TEST_P(DatasetContract, CountsItsTrainingSamples) {
  if (GetParam().training_samples == nullptr) return;
  const Scratch scratch;
  const std::string spec = write_example(GetParam().name, scratch.path());
  EXPECT_EQ(GetParam().training_samples(Arguments(spec, GetParam().parameters)),
            make_dataset(spec)->train.size());
}

TEST_P(DatasetContract, IsTheSameEveryTime) {
  const Scratch scratch;
  const std::string spec = write_example(GetParam().name, scratch.path());
  const auto one = make_dataset(spec);
  const auto two = make_dataset(spec);
  EXPECT_EQ(one->train.inputs, two->train.inputs);
  EXPECT_EQ(one->train.labels(), two->train.labels());
  EXPECT_EQ(one->test.labels(), two->test.labels());
  EXPECT_EQ(one->mean, two->mean);
}

TEST_P(DatasetContract, NamesThePathThatIsNotThere) {
  const auto& parameters = GetParam().parameters;
  if (parameters.empty() || parameters.front().key != "path") return;  // needs no files
  const Scratch scratch;
  const std::string path = (scratch / "absent").string();
  const std::string text =
      message_of([&] { make_dataset(std::string(GetParam().name) + ":" + path); });
  EXPECT_EQ(text.find("[" + std::string(GetParam().name) + "] " + path), 0u) << text;
}

TEST_P(DatasetContract, SaysWhereItIsFrom) {
  EXPECT_NE(GetParam().source.find("licence"), std::string_view::npos);
}

TEST_P(DatasetContract, HasDefaultsThatExist) {
  EXPECT_NO_THROW(make_augmentation(GetParam().augmentation));
  EXPECT_NO_THROW(model::model_registry().find(GetParam().model));
  EXPECT_GT(GetParam().epochs, 0u);
}

TEST_P(DatasetContract, IsFoundByItsSpec) {
  const DatasetEntry* found = find_dataset(GetParam().example);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Registry, DatasetContract, ::testing::ValuesIn(dataset_registry()),
                         [](const auto& row) { return std::string(row.param.name); });

/// Every dataset that can be a regression: two targets per sample.
TEST_P(DatasetContract, HasTargetsThatFitARegression) {
  if (GetParam().make_regression == nullptr) return;  // the message: SaysWhichDataARegressionCanUse
  const Scratch scratch;
  const std::string spec = write_regression_example(GetParam().name, scratch.path());
  const auto dataset = make_dataset(spec, Task::kRegression);
  EXPECT_EQ(dataset->name, GetParam().name);
  EXPECT_EQ(dataset->task(), Task::kRegression);
  EXPECT_EQ(dataset->outputs(), 2u);
  EXPECT_EQ(dataset->target_mean.size(), 2u);
  ASSERT_EQ(dataset->target_deviation.size(), 2u);
  for (float deviation : dataset->target_deviation) EXPECT_GT(deviation, 0);
  for (const Samples* part : {&dataset->train, &dataset->test}) {
    ASSERT_GT(part->size(), 0u);
    EXPECT_EQ(part->inputs.size(), part->size() * dataset->stored_features());
    EXPECT_EQ(part->targets.size(), part->size() * 2);
    EXPECT_EQ(part->targets.type(), ElementType::kF32);
  }
  EXPECT_EQ(sha256_of(*make_dataset(spec, Task::kRegression)), sha256_of(*dataset));
}

TEST(Digits, AreTheUciSet) {
  const auto digits = make_dataset("digits");
  EXPECT_EQ(digits->height, 8u);
  EXPECT_EQ(digits->width, 8u);
  EXPECT_EQ(digits->channels, 1u);
  EXPECT_EQ(digits->train.size(), 1442u);
  EXPECT_EQ(digits->test.size(), 355u);
  EXPECT_EQ(*std::ranges::max_element(digits->train.inputs.as<std::uint8_t>()), 16);
  EXPECT_EQ(digits->scale * 16, 1.0f);

  std::vector<std::size_t> counts(10, 0);
  for (std::uint16_t label : digits->train.labels()) ++counts[label];
  for (std::uint16_t label : digits->test.labels()) ++counts[label];
  EXPECT_EQ(counts, (std::vector<std::size_t>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
}

TEST(Digits, HaveTheirChecksum) {
  const auto digits = make_dataset("digits");
  Sha256 hash;
  for (const Samples* part : {&digits->train, &digits->test}) {
    hash.update(part->inputs.as<std::uint8_t>());
    hash.update(part->labels().data(), part->labels().size() * sizeof(std::uint16_t));
  }
  EXPECT_EQ(hash.finish_hex(), "4b2ad748c3401182706dc42cb4c06dccebf00d1d58bb91ac5b4052a08d2bad33");
}

TEST(Digits, BeginWithAZero) {
  const auto digits = make_dataset("digits");
  const auto image = digits->train.image(0, digits->features());
  EXPECT_EQ(digits->train.labels()[0], 0);
  EXPECT_EQ(std::vector<int>(image.begin(), image.begin() + 16),
            (std::vector<int>{0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13, 15, 10, 15, 5, 0}));
}

TEST(MakeDataset, NamesWhatThereIsWhenAskedForTheUnknown) {
  try {
    make_dataset("digit");
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "[data] no data is named 'digit' (did you mean 'digits'?); there are digits, "
                 "mnist, cifar10, cifar100, folder, synthetic, npz, csv");
  }
}

TEST(MakeDataset, SaysWhichDataARegressionCanUse) {
  EXPECT_EQ(message_of([] { make_dataset("digits", Task::kRegression); }),
            "[digits] has classes, not numbers to predict; --task regression needs one of "
            "synthetic, npz, csv");
  EXPECT_EQ(message_of([] { parse_task("ranking"); }),
            "[task] must be classification or regression, got 'ranking'");
}

/// Checkpoints hold it, so a run of an earlier version can be resumed only if it stays.
TEST(Sha256Of, StaysThatOfEarlierVersions) {
  EXPECT_EQ(sha256_of(*make_dataset("digits")),
            "28c8b7ee0aa0c851a2e2636b5bc06fd268d371a5c7a3820f90e492caf2094c60");
  Dataset own{
      .name = "own", .channels = 2, .classes = 2, .mean = {0.5f, 1.5f}, .deviation = {2, 3}};
  own.train.inputs.as<float>() = {1, 2, 3, 4};
  own.train.labels() = {0, 1};
  own.test.inputs.as<float>() = {5, 6};
  own.test.labels() = {1};
  own.class_names = {"ab", "c"};
  EXPECT_EQ(sha256_of(own), "08db557d93a21daffd1109c7902bcfaf0c2aa6d62503a805ef257696cb0eef4a");
}

TEST(MakeDataset, TakesPathsWithColonsAndByKeyWithEqualsSigns) {
  const Scratch scratch;
  for (const char* name : {"a:b.csv", "a=b.csv"}) {
    support::write_text(scratch / name, "a,label\n1,x\n2,x\n3,y\n4,y\n");
    const std::string path = (scratch / name).string();
    EXPECT_EQ(make_dataset("csv:path=" + path + ",test=0.5")->classes, 2u);
  }
  EXPECT_EQ(make_dataset("csv:" + (scratch / "a:b.csv").string() + ",test=0.5")->classes, 2u);
  EXPECT_EQ(make_dataset("csv:" + (scratch / "a:b.csv").string() + ",label,0.5")->classes, 2u);
  EXPECT_EQ(message_of([] { make_dataset("cifar10"); }),
            "[cifar10] path must be given (PATH): the folder with the published files");
}

TEST(FindDataset, HasNoneForWhatIsNoDataset) {
  for (const char* spec : {"consensus:dim=3", "digit", "", ":digits"}) {
    EXPECT_EQ(find_dataset(spec), nullptr) << spec;
  }
}

TEST(FindDataset, HasTheAugmentationOfThePapersForImages) {
  EXPECT_EQ(find_dataset("cifar10:x")->augmentation, "crop-flip");
  EXPECT_EQ(find_dataset("cifar100:x")->augmentation, "crop-flip");
  EXPECT_EQ(find_dataset("folder:x,size=64")->augmentation, "resized-crop");
  EXPECT_EQ(find_dataset("digits")->augmentation, "none");
}

}  // namespace
}  // namespace hearsay::data
