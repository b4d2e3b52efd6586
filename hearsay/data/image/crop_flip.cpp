#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/data/image/augment.h"
#include "hearsay/data/image/pixels-inl.h"

namespace hearsay::data {

namespace {

class CropFlip final : public Augmentation {
 public:
  CropFlip(std::int64_t padding, bool flip) : padding_(padding), flip_(flip) {}

  void check(const Dataset& dataset) const override {
    require_images("crop-flip", dataset);
    const std::size_t side = std::min(dataset.height, dataset.width);
    if (padding_ < static_cast<std::int64_t>(side)) return;
    throw InvalidArgument(
        fmt::format("[crop-flip] padding must be below the shorter side of the images, {} pixels, "
                    "got {}; a crop could be all black",
                    side, padding_));
  }

  void read(const Dataset& dataset, const Samples& from, std::size_t i, const Random& random,
            std::size_t slot, std::span<float> out) const override {
    assert(out.size() == dataset.features() && i < from.size());
    const auto words = random.words(slot);
    const bool mirrored = flip_ && words[0] >> 31 != 0;
    const std::int64_t down = shift(words[1]);
    const std::int64_t right = shift(words[2]);

    const auto height = static_cast<std::int64_t>(dataset.height);
    const auto width = static_cast<std::int64_t>(dataset.width);
    const auto stride = static_cast<std::int64_t>(dataset.stored_width());
    const std::int64_t plane = static_cast<std::int64_t>(dataset.stored_height()) * stride;
    const auto margin = static_cast<std::int64_t>(dataset.margin);
    // Columns first .. last - 1 of the result are columns first + right .. of the image.
    const std::int64_t first = std::clamp<std::int64_t>(-right, 0, width);
    const std::int64_t last = std::clamp<std::int64_t>(width - right, first, width);

    with_entries(dataset, from, i, [&](const auto* entries) {
      float* to = out.data();
      for (std::size_t c = 0; c < dataset.channels; ++c) {
        const Normalizer normalize(dataset, c);
        const float black = normalize(0);
        const auto* image =
            entries + static_cast<std::int64_t>(c) * plane + margin * stride + margin;
        for (std::int64_t y = 0; y < height; ++y, to += width) {
          if (y + down < 0 || y + down >= height) {
            std::fill_n(to, width, black);
            continue;
          }
          const auto* row = image + (y + down) * stride;
          std::fill(to, to + first, black);
          if (mirrored) {
            for (std::int64_t x = first; x < last; ++x) {
              to[x] = normalize(row[width - 1 - (x + right)]);
            }
          } else {
            for (std::int64_t x = first; x < last; ++x) to[x] = normalize(row[x + right]);
          }
          std::fill(to + last, to + width, black);
        }
      }
    });
  }

  Recipe recipe() const override {
    return {.kind = Recipe::Kind::kCropFlip, .padding = padding_, .flip = flip_};
  }

 private:
  /// Uniform in -padding .. padding.
  std::int64_t shift(std::uint32_t word) const {
    const auto places = static_cast<std::uint64_t>(2 * padding_ + 1);
    return static_cast<std::int64_t>(word * places >> 32) - padding_;
  }

  std::int64_t padding_;
  bool flip_;
};

}  // namespace

std::unique_ptr<Augmentation> make_crop_flip(const Arguments& arguments) {
  return std::make_unique<CropFlip>(arguments.integer_in_range("padding"), arguments.flag("flip"));
}

}  // namespace hearsay::data
