#include "hearsay/engine/cuda/batch_reader.h"

#include <gtest/gtest.h>

#include "engine/cuda/gpu.h"
#include "hearsay/data/partition.h"
#include "hearsay/engine/batches.h"

namespace hearsay::engine {
namespace {

constexpr std::uint64_t kSeed = 11;

/// Synthetic images with a margin, as bytes or as floats.
data::Dataset make_images(bool bytes) {
  data::Dataset dataset{.name = "images", .channels = 3, .height = 9, .width = 7, .margin = 2};
  dataset.classes = 4;
  dataset.scale = 1 / 255.0f;
  dataset.mean = {0.4f, 0.5f, 0.6f};
  dataset.deviation = {0.2f, 0.25f, 0.3f};
  Random random(1, Purpose::kTest);
  constexpr std::size_t kSamples = 30;
  for (std::size_t i = 0; i < kSamples * dataset.stored_features(); ++i) {
    const auto value = random.below(256);
    if (bytes) dataset.train.inputs.as<std::uint8_t>().push_back(static_cast<std::uint8_t>(value));
    if (!bytes) dataset.train.inputs.as<float>().push_back(static_cast<float>(value) + 0.25f);
  }
  for (std::size_t i = 0; i < kSamples; ++i) {
    dataset.train.labels().push_back(static_cast<std::uint16_t>(random.below(4)));
  }
  return dataset;
}

struct Case {
  std::string name, augmentation;
  bool bytes;
  std::size_t samples, batch;
};

std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.name; }

/// The batches of some rounds, also out of order, are those defined by batches.h and augment.h.
class GpuBatches : public GpuTest, public ::testing::WithParamInterface<Case> {};

TEST_P(GpuBatches, AreThoseOfTheHost) {
  const Case& test = GetParam();
  constexpr std::uint32_t kFirst = 1, kRows = 2;
  const data::Dataset dataset = make_images(test.bytes);
  const auto augmentation = data::make_augmentation(test.augmentation, dataset);
  const bool stretched = augmentation->recipe().kind == data::Recipe::Kind::kResizedCrop;
  data::Partition parts(kFirst + kRows);
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    for (std::uint32_t k = 0; k < test.samples; ++k) {
      parts[i].push_back((k * 7 + i * 10) % 30);
    }
  }
  Gpu gpu("fp32");
  model::Network net({dataset.channels, dataset.height, dataset.width});
  net.add("linear", model::Linear{.out = 4}, {net.add("flatten", model::Flatten{}, {0})});
  const auto program =
      cuda::make_program(net, kRows, test.batch, cuda::Program::Use::kForward, gpu.context());
  const cuda::ImageReader images(dataset, dataset.train);
  cuda::BatchReader reader({parts[kFirst], parts[kFirst + 1]}, test.batch, dataset,
                           augmentation->recipe());
  const backend::cuda::Memory<cuda::Slot> slots(kRows * test.batch);
  Batches batches(kSeed, kFirst, kRows, test.samples, test.batch);

  for (const std::uint32_t round : {0u, 1u, 2u, 7u, 3u, 100'000u, 100'001u}) {
    std::vector<StreamKey> keys;
    for (std::uint32_t i = 0; i < kRows; ++i) keys.push_back({kSeed, kFirst + i, round});
    reader.pick(gpu.context().recorder, keys, slots.data());
    images.read(gpu.context().recorder, slots.data(), program->images(), program->labels(),
                nullptr);
    const std::vector<float> found = gpu.read(program->images());
    std::vector<std::uint16_t> labels(kRows * test.batch);
    gpu.copy(labels.data(), program->labels(), labels.size() * sizeof labels[0]);

    std::vector<std::uint32_t> places(test.batch);
    std::vector<float> expected(dataset.features());
    for (std::uint32_t i = 0; i < kRows; ++i) {
      const Random random(kSeed, Purpose::kAugment, kFirst + i, round);
      batches.read(i, round, places);
      for (std::size_t k = 0; k < test.batch; ++k) {
        const std::uint32_t sample = parts[kFirst + i][places[k]];
        const std::size_t slot = i * test.batch + k;
        ASSERT_EQ(labels[slot], dataset.train.labels()[sample])
            << "round " << round << ", row " << i << ", slot " << k;
        augmentation->read(dataset, dataset.train, sample, random, k, expected);
        for (std::size_t j = 0; j < expected.size(); ++j) {
          const float pixel = found[slot * expected.size() + j];
          // Values are below 3; a resized one is a mean of some of them, rounded a few times.
          ASSERT_NEAR(pixel, expected[j], stretched ? 2e-6 : 0)
              << "round " << round << ", row " << i << ", slot " << k << ", entry " << j;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Augmentations, GpuBatches,
    ::testing::Values(Case{"None", "none", true, 10, 4}, Case{"NoneOfFloats", "none", false, 10, 4},
                      Case{"CropFlip", "crop-flip:padding=3", true, 10, 4},
                      Case{"CropFlipOfFloats", "crop-flip:padding=3", false, 10, 4},
                      Case{"Crop", "crop-flip:padding=1,flip=0", true, 10, 4},
                      Case{"Flip", "crop-flip:padding=0", true, 10, 5},
                      Case{"ResizedCrop", "resized-crop:scale=0.08", true, 10, 4},
                      Case{"ResizedCropOfFloats", "resized-crop:scale=0.5", false, 10, 4},
                      Case{"ResizedCropUnflipped", "resized-crop:scale=1,flip=0", true, 10, 4},
                      Case{"BatchOfSeveralPasses", "crop-flip:padding=1", true, 3, 8},
                      Case{"BatchOfOnePass", "none", true, 8, 8},
                      Case{"OneSample", "crop-flip:padding=2", true, 1, 1},
                      Case{"LargeBatch", "crop-flip:padding=2", true, 20, 300}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearsay::engine
