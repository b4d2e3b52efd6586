#include "hearsay/data/image/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>

#include "data/files.h"
#include "hearsay/core/error.h"

namespace hearsay::data {

void PrintTo(const AugmentationEntry& entry, std::ostream* out) { *out << entry.name; }

namespace {

/// Twelve images whose pixels all differ within an image, as bytes or (the same values) as floats.
Dataset some_images(bool floats, std::size_t margin = 0) {
  Dataset images{.name = "test", .channels = 2, .height = 6, .width = 9, .margin = margin};
  images.classes = 2;
  images.scale = 1.0f / 255;
  images.mean = {0.3f, 0.5f};
  images.deviation = {0.2f, 0.25f};
  for (std::size_t i = 0; i < 12; ++i) {
    images.train.labels().push_back(static_cast<std::uint16_t>(i % 2));
    for (std::size_t k = 0; k < images.stored_features(); ++k) {
      const auto pixel = static_cast<std::uint8_t>(1 + (k * 7 + i * 31) % 254);
      if (floats) {
        images.train.inputs.as<float>().push_back(pixel);
      } else {
        images.train.inputs.as<std::uint8_t>().push_back(pixel);
      }
    }
  }
  return images;
}

/// Entry (c, y, x) of the centre of sample i, normalised by the formula of dataset.h; outside the
/// centre a stored 0.
double seen(const Dataset& d, std::size_t i, std::size_t c, std::int64_t y, std::int64_t x) {
  double p = 0;
  if (y >= 0 && y < static_cast<std::int64_t>(d.height) && x >= 0 &&
      x < static_cast<std::int64_t>(d.width)) {
    const std::size_t at = i * d.stored_features() + c * d.stored_height() * d.stored_width() +
                           (static_cast<std::size_t>(y) + d.margin) * d.stored_width() +
                           static_cast<std::size_t>(x) + d.margin;
    d.train.inputs.visit([&](const auto& entries) { p = static_cast<double>(entries[at]); });
  }
  return (static_cast<double>(d.scale) * p - static_cast<double>(d.mean[c])) /
         static_cast<double>(d.deviation[c]);
}

std::vector<float> read(const Augmentation& augmentation, const Dataset& images, std::size_t i,
                        const Random& random, std::size_t slot) {
  std::vector<float> out(images.features());
  augmentation.read(images, images.train, i, random, slot, out);
  return out;
}

/// Every augmentation of the registry fulfils the contract in augment.h.
class AugmentationContract : public ::testing::TestWithParam<AugmentationEntry> {};

TEST_P(AugmentationContract, IsAPureFunctionOfStreamAndSlot) {
  const auto augmentation = make_augmentation(GetParam().example);
  const auto again = make_augmentation(GetParam().example);
  const Dataset images = some_images(false);
  const Random random(3, Purpose::kAugment, 1, 5);
  std::vector<std::vector<float>> forwards;
  for (std::size_t slot = 0; slot < 12; ++slot) {
    forwards.push_back(read(*augmentation, images, slot, random, slot));
  }
  for (std::size_t slot = 12; slot-- > 0;) {
    EXPECT_EQ(read(*again, images, slot, random, slot), forwards[slot]);
  }
}

TEST_P(AugmentationContract, DiffersFromSlotToSlotPeerToPeerAndRoundToRound) {
  if (GetParam().name == "none") return;
  const auto augmentation = make_augmentation(GetParam().example);
  const Dataset images = some_images(false);
  const auto batch = [&](const Random& random) {
    std::vector<std::vector<float>> all;
    for (std::size_t slot = 0; slot < 16; ++slot) {
      all.push_back(read(*augmentation, images, 0, random, slot));
    }
    return all;
  };
  const auto first = batch(Random(3, Purpose::kAugment, 1, 5));
  EXPECT_GT(std::set<std::vector<float>>(first.begin(), first.end()).size(), 8u);
  EXPECT_NE(first, batch(Random(4, Purpose::kAugment, 1, 5)));
  EXPECT_NE(first, batch(Random(3, Purpose::kAugment, 2, 5)));
  EXPECT_NE(first, batch(Random(3, Purpose::kAugment, 1, 6)));
}

TEST_P(AugmentationContract, TreatsBytesAndFloatsAlike) {
  const auto augmentation = make_augmentation(GetParam().example);
  for (const std::size_t margin : {0u, 2u}) {
    const Dataset bytes = some_images(false, margin);
    const Dataset floats = some_images(true, margin);
    const Random random(3, Purpose::kAugment);
    for (std::size_t slot = 0; slot < 12; ++slot) {
      EXPECT_EQ(read(*augmentation, bytes, slot, random, slot),
                read(*augmentation, floats, slot, random, slot));
    }
  }
}

TEST_P(AugmentationContract, LeavesAPlainImagePlain) {
  // Inside the image: crop-flip's border is black, so pixel and mean are 0 here.
  Dataset images = some_images(false, 3);
  images.mean = {0, 0};
  std::ranges::fill(images.train.inputs.as<std::uint8_t>(), 0);
  const auto augmentation = make_augmentation(GetParam().example);
  for (std::size_t slot = 0; slot < 12; ++slot) {
    for (const float value :
         read(*augmentation, images, slot, Random(1, Purpose::kAugment), slot)) {
      EXPECT_EQ(value, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, AugmentationContract,
                         ::testing::ValuesIn(augmentation_registry()), [](const auto& row) {
                           std::string name(row.param.name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(ReadSample, IsTheNormalisedCentre) {
  for (const bool floats : {false, true}) {
    for (const std::size_t margin : {0u, 1u, 4u}) {
      const Dataset images = some_images(floats, margin);
      std::vector<float> out(images.features());
      for (std::size_t i = 0; i < images.train.size(); ++i) {
        read_sample(images, images.train, i, out);
        for (std::size_t k = 0; k < out.size(); ++k) {
          EXPECT_NEAR(out[k],
                      seen(images, i, k / 54, static_cast<std::int64_t>(k / 9 % 6),
                           static_cast<std::int64_t>(k % 9)),
                      1e-6);
        }
      }
    }
  }
}

TEST(ReadSample, WithoutMeanAndDeviationOnlyScales) {
  Dataset images = some_images(false);
  images.mean.clear();
  images.deviation.clear();
  std::vector<float> out(images.features());
  read_sample(images, images.train, 3, out);
  for (std::size_t k = 0; k < out.size(); ++k) {
    EXPECT_EQ(out[k], images.scale * images.train.image(3, out.size())[k]);
  }
}

/// Flip, pad, crop, normalise, one after the other, with the words that augment.h names.
TEST(CropFlip, EqualsItsDefinition) {
  for (const std::int64_t padding : {0, 1, 4, 20}) {
    for (const bool flip : {false, true}) {
      const auto augmentation = make_augmentation("crop-flip:padding=" + std::to_string(padding) +
                                                  ",flip=" + (flip ? "1" : "0"));
      for (const std::size_t margin : {0u, 2u}) {
        const Dataset images = some_images(false, margin);
        const Random random(7, Purpose::kAugment, 2, 9);
        for (std::size_t slot = 0; slot < 200; ++slot) {
          const std::size_t i = slot % 12;
          const auto out = read(*augmentation, images, i, random, slot);
          const bool mirrored = flip && random.word(4 * slot) >= 0x80000000;
          const auto place = [&](std::uint32_t word) {
            return static_cast<std::int64_t>(
                std::floor(word * 0x1p-32 * static_cast<double>(2 * padding + 1)));
          };
          const std::int64_t top = place(random.word(4 * slot + 1));
          const std::int64_t left = place(random.word(4 * slot + 2));
          for (std::size_t k = 0; k < out.size(); ++k) {
            const std::int64_t y = top + static_cast<std::int64_t>(k / 9 % 6) - padding;
            std::int64_t x = left + static_cast<std::int64_t>(k % 9) - padding;
            if (mirrored) x = 8 - x;
            ASSERT_NEAR(out[k], seen(images, i, k / 54, y, x), 1e-6);
          }
        }
      }
    }
  }
}

TEST(CropFlip, MirrorsHalfAndCutsEverywhereAlike) {
  // One bright pixel in the middle: its position shows the shift.
  Dataset images{.name = "test", .height = 33, .width = 33, .classes = 1};
  images.train.inputs.as<std::uint8_t>().assign(33 * 33, 0);
  images.train.inputs.as<std::uint8_t>()[16 * 33 + 16] = 1;
  images.train.labels() = {0};
  const auto augmentation = make_augmentation("crop-flip");
  std::map<std::size_t, int> places;
  constexpr int kDraws = 81 * 200;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Random random(1, Purpose::kAugment, 0, static_cast<std::uint32_t>(draw / 32));
    const auto out = read(*augmentation, images, 0, random, static_cast<std::size_t>(draw % 32));
    ++places[static_cast<std::size_t>(std::ranges::find(out, 1.0f) - out.begin())];
  }
  EXPECT_EQ(places.size(), 81u);
  for (const auto& [place, count] : places) {
    EXPECT_GE(place / 33, 12u);
    EXPECT_LE(place / 33, 20u);
    EXPECT_NEAR(count, 200, 5 * std::sqrt(200.0));
  }

  images.train.inputs.as<std::uint8_t>().assign(33 * 33, 0);
  images.train.inputs.as<std::uint8_t>()[16 * 33 + 6] = 1;  // left; right when mirrored
  int mirrored = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Random random(2, Purpose::kAugment, 0, static_cast<std::uint32_t>(draw / 32));
    const auto out = read(*augmentation, images, 0, random, static_cast<std::size_t>(draw % 32));
    mirrored += (std::ranges::find(out, 1.0f) - out.begin()) % 33 > 16 ? 1 : 0;
  }
  EXPECT_NEAR(mirrored, kDraws / 2, 5 * std::sqrt(kDraws / 4.0));
}

/// A crop divides the slope of a ramp by the stretch, so the cropped rectangle can be read off.
TEST(ResizedCrop, TakesRectanglesOfTheStatedAreasAndRatios) {
  Dataset images{.name = "test", .channels = 2, .height = 56, .width = 56, .margin = 4};
  images.classes = 1;
  images.train.labels() = {0};
  for (std::size_t c = 0; c < 2; ++c) {
    for (std::size_t k = 0; k < 64 * 64; ++k) {
      images.train.inputs.as<float>().push_back(static_cast<float>(c == 0 ? k / 64 : k % 64));
    }
  }
  const auto augmentation = make_augmentation("resized-crop:flip=0");
  double smallest = 1;
  double largest = 0;
  double sum = 0;
  constexpr int kDraws = 2000;
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto out = read(*augmentation, images, 0, Random(1, Purpose::kAugment, 0, 0),
                          static_cast<std::size_t>(draw));
    const double height = static_cast<double>(out[40 * 56 + 28] - out[16 * 56 + 28]) * 56 / 24;
    const double width =
        static_cast<double>(out[56 * 56 + 28 * 56 + 40] - out[56 * 56 + 28 * 56 + 16]) * 56 / 24;
    const double area = height * width / (64 * 64);
    EXPECT_GT(width / height, 0.75 * 0.93);
    EXPECT_LT(width / height, 1.34 * 1.07);
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
    sum += area;
    for (const float value : out) {
      ASSERT_GE(value, 0);
      ASSERT_LE(value, 63.001f);
    }
  }
  EXPECT_NEAR(smallest, 0.08, 0.01);
  EXPECT_GT(largest, 0.97);
  EXPECT_NEAR(sum / kDraws, 0.51, 0.05);  // a little lower: large and oblong rectangles do not fit
}

TEST(ResizedCrop, WhereNoRectangleFitsTakesTheWholeAndOnlyMirrors) {
  Dataset images = some_images(false);
  // 2 x 27 of the same pixels: a rectangle of that area whose width is at most 4/3 of its height is
  // too high.
  images.height = 2;
  images.width = 27;
  const auto augmentation = make_augmentation("resized-crop:scale=1");
  int mirrored = 0;
  for (std::size_t slot = 0; slot < 400; ++slot) {
    const auto out = read(*augmentation, images, 0, Random(1, Purpose::kAugment), slot);
    const bool flipped = std::abs(static_cast<double>(out[0]) - seen(images, 0, 0, 0, 0)) > 1e-4;
    for (std::size_t k = 0; k < out.size(); ++k) {
      const auto x = static_cast<std::int64_t>(k % 27);
      ASSERT_NEAR(
          out[k],
          seen(images, 0, k / 54, static_cast<std::int64_t>(k / 27 % 2), flipped ? 26 - x : x),
          1e-5);
    }
    mirrored += flipped ? 1 : 0;
  }
  EXPECT_NEAR(mirrored, 200, 50);
}

TEST(MakeAugmentation, SaysWhatIsWrong) {
  const auto message = [](const char* spec) {
    return message_of([&] { make_augmentation(spec); });
  };
  EXPECT_EQ(message("crop"),
            "[augmentation] no augmentation is named 'crop'; there are none, crop-flip, "
            "resized-crop");
  EXPECT_EQ(message("crop-flip:padding=-1"),
            "[crop-flip] padding must be a whole number in [0, 1024], got -1");
  EXPECT_EQ(message("crop-flip:flip=2"), "[crop-flip] flip must be 0 or 1, got 2");
  const auto misfit = [](const char* spec, const Dataset& dataset) {
    return message_of([&] { make_augmentation(spec, dataset); });
  };
  const Dataset table{.name = "csv", .channels = 5};
  EXPECT_EQ(misfit("none", table), "no error");
  EXPECT_EQ(misfit("crop-flip:padding=0", table),
            "[crop-flip] changes images, and samples of csv are no images; use --augment none");
  EXPECT_EQ(misfit("resized-crop", table),
            "[resized-crop] changes images, and samples of csv are no images; use --augment none");
  const Dataset images{.name = "npz", .height = 8, .width = 9};
  EXPECT_EQ(misfit("crop-flip:padding=7", images), "no error");
  EXPECT_EQ(misfit("crop-flip:padding=8", images),
            "[crop-flip] padding must be below the shorter side of the images, 8 pixels, got 8; a "
            "crop could be all black");
  EXPECT_EQ(message("resized-crop:scale=0"), "[resized-crop] scale must be in (0, 1], got 0");
}

}  // namespace
}  // namespace hearsay::data
