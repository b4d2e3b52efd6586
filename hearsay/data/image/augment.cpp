#include "hearsay/data/image/augment.h"

#include <cassert>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/data/image/pixels-inl.h"

namespace hearsay::data {

namespace {

class None final : public Augmentation {
 public:
  void read(const Dataset& dataset, const Samples& from, std::size_t i, const Random& /*random*/,
            std::size_t /*slot*/, std::span<float> out) const override {
    read_sample(dataset, from, i, out);
  }
  Recipe recipe() const override { return {}; }
};

constexpr Parameter kCropFlip[] = {
    {"padding", "4", "[0, 1024]", "pixels of black around the image before the crop"},
    {"flip", "1", "0|1", "whether half of the images are mirrored"},
};

constexpr Parameter kResizedCrop[] = {
    {"scale", "0.08", "(0, 1]", "the smallest area of the crop, as a part of the image"},
    {"flip", "1", "0|1", "whether half of the images are mirrored"},
};

constexpr AugmentationEntry kRegistry[] = {
    {"none",
     "none",
     "images as they are",
     {},
     [](const Arguments&) -> std::unique_ptr<Augmentation> { return std::make_unique<None>(); }},
    {"crop-flip", "crop-flip:padding=4", "random crop of the padded image, random mirroring",
     kCropFlip, make_crop_flip},
    {"resized-crop", "resized-crop:scale=0.08",
     "random rectangle stretched to the image's size, random mirroring", kResizedCrop,
     make_resized_crop},
};

}  // namespace

void read_sample(const Dataset& dataset, const Samples& from, std::size_t i, std::span<float> out) {
  assert(out.size() == dataset.features() && i < from.size());
  const std::size_t stride = dataset.stored_width();
  const std::size_t plane = dataset.stored_height() * stride;
  with_entries(dataset, from, i, [&](const auto* entries) {
    float* to = out.data();
    for (std::size_t c = 0; c < dataset.channels; ++c) {
      const Normalizer normalize(dataset, c);
      const auto* row = entries + c * plane + dataset.margin * stride + dataset.margin;
      for (std::size_t y = 0; y < dataset.height; ++y, row += stride, to += dataset.width) {
        for (std::size_t x = 0; x < dataset.width; ++x) to[x] = normalize(row[x]);
      }
    }
  });
}

Registry<AugmentationEntry> augmentation_registry() { return {"augmentation", kRegistry}; }

std::unique_ptr<Augmentation> make_augmentation(std::string_view spec) {
  return augmentation_registry().make(spec);
}

std::unique_ptr<Augmentation> make_augmentation(std::string_view spec, const Dataset& dataset) {
  auto augmentation = make_augmentation(spec);
  augmentation->check(dataset);
  return augmentation;
}

void require_images(std::string_view name, const Dataset& dataset) {
  if (dataset.height * dataset.width > 1) return;
  throw InvalidArgument(
      fmt::format("[{}] changes images, and samples of {} are no images; use --augment none", name,
                  dataset.name));
}

}  // namespace hearsay::data
