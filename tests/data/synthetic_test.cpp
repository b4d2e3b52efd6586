#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/files.h"
#include "hearsay/core/error.h"
#include "hearsay/data/dataset.h"
#include "hearsay/data/image/augment.h"

namespace hearsay::data {
namespace {

TEST(Synthetic, HasTheShapeAndTheNumberAskedFor) {
  const auto task = make_dataset("synthetic:shape=2x5x7,classes=3,samples=100");
  EXPECT_EQ(task->channels, 2u);
  EXPECT_EQ(task->height, 5u);
  EXPECT_EQ(task->width, 7u);
  EXPECT_EQ(task->train.size(), 100u);
  EXPECT_EQ(task->test.size(), 20u);
  EXPECT_EQ(task->train.labels()[4], 1);
}

TEST(Synthetic, IsAnotherTaskForAnotherSeedAndTestsOnOtherSamples) {
  const auto one = make_dataset("synthetic:samples=100,seed=1");
  const auto two = make_dataset("synthetic:samples=100,seed=2");
  EXPECT_NE(one->train.inputs.as<std::uint8_t>(), two->train.inputs.as<std::uint8_t>());
  EXPECT_FALSE(std::equal(one->test.inputs.as<std::uint8_t>().begin(),
                          one->test.inputs.as<std::uint8_t>().end(),
                          one->train.inputs.as<std::uint8_t>().begin()));
}

TEST(SyntheticRegression, HasTargetsOfAboutTheSameSizeFixedByItsParameters) {
  constexpr std::string_view spec = "synthetic:shape=2x5x7,targets=3,samples=500";
  const auto task = make_dataset(spec, Task::kRegression);
  EXPECT_EQ(task->outputs(), 3u);
  EXPECT_EQ(task->train.size(), 500u);
  EXPECT_EQ(task->test.size(), 100u);
  EXPECT_EQ(task->train.inputs.size(), 500u * 70);
  EXPECT_EQ(task->train.targets.size(), 1500u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(task->target_mean[k], 0, 0.3);
    EXPECT_GT(task->target_deviation[k], 0.8);
    EXPECT_LT(task->target_deviation[k], 2.2);
  }
  const auto again = make_dataset(spec, Task::kRegression);
  EXPECT_EQ(again->train.inputs, task->train.inputs);
  EXPECT_EQ(again->train.targets, task->train.targets);
  EXPECT_EQ(sha256_of(*again), sha256_of(*task));
  const auto other =
      make_dataset("synthetic:shape=2x5x7,targets=3,samples=500,seed=1", Task::kRegression);
  EXPECT_NE(other->train.targets, task->train.targets);
  EXPECT_NE(sha256_of(*other), sha256_of(*task));
  EXPECT_EQ(message_of([] { make_dataset("synthetic:classes=3", Task::kRegression); }),
            "[synthetic] --task regression has no classes; give targets=...");
  EXPECT_EQ(message_of([] { make_dataset("synthetic:targets=3"); }),
            "[synthetic] targets is for --task regression; add that, or give classes=...");
}

TEST(Synthetic, IsNormalisedRoughly) {
  const auto task = make_dataset("synthetic:samples=200");
  std::vector<float> image(task->features());
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    read_sample(*task, task->train, i, image);
    for (const float value : image) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  const double count = 200 * static_cast<double>(task->features());
  EXPECT_NEAR(sum / count, 0, 0.2);
  EXPECT_NEAR(std::sqrt(squares / count), 1, 0.2);
}

/// Classifies by the nearest class mean of the training images.
TEST(Synthetic, CanBeLearntAndIsHarderWithMoreNoise) {
  const auto accuracy = [](const std::string& spec) {
    const auto task = make_dataset(spec);
    const std::size_t features = task->features();
    std::vector<std::vector<double>> means(task->classes, std::vector<double>(features, 0.0));
    for (std::size_t i = 0; i < task->train.size(); ++i) {
      const auto image = task->train.image(i, features);
      for (std::size_t k = 0; k < features; ++k) {
        means[task->train.labels()[i]][k] += static_cast<double>(image[k]) *
                                             static_cast<double>(task->classes) /
                                             static_cast<double>(task->train.size());
      }
    }
    double right = 0;
    for (std::size_t i = 0; i < task->test.size(); ++i) {
      const auto image = task->test.image(i, features);
      const auto distance = [&](const std::vector<double>& mean) {
        double sum = 0;
        for (std::size_t k = 0; k < features; ++k) sum += std::pow(image[k] - mean[k], 2);
        return sum;
      };
      const auto nearest = std::ranges::min_element(means, {}, distance) - means.begin();
      right += nearest == task->test.labels()[i] ? 1 : 0;
    }
    return right / static_cast<double>(task->test.size());
  };
  EXPECT_GT(accuracy("synthetic:shape=1x8x8,samples=1000"), 0.95);
  EXPECT_LT(accuracy("synthetic:shape=1x8x8,samples=1000,noise=6"), 0.7);
}

TEST(Synthetic, SaysWhatIsWrong) {
  const auto message = [](const char* spec) { return message_of([&] { make_dataset(spec); }); };
  for (const char* shape :
       {"3x32", "3x32x", "3x0x32", "3x32x32x1", "axbxc", "3x32x5000", "-3x2x2"}) {
    EXPECT_EQ(message(("synthetic:shape=" + std::string(shape)).c_str()),
              "[synthetic] shape must be channels x height x width, each 1 to 4096, got " +
                  std::string(shape));
  }
  EXPECT_EQ(message("synthetic:classes=10,samples=9"),
            "[synthetic] samples must be at least one a class, 10, got 9");
  EXPECT_EQ(message("synthetic:shape=3x4096x4096,samples=1000000000"),
            "[synthetic] samples must be few enough for 64 GiB of pixels, got 1000000000");
}

}  // namespace
}  // namespace hearsay::data
