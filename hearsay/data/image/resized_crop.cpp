#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "hearsay/data/image/augment.h"
#include "hearsay/data/image/pixels-inl.h"
#include "hearsay/data/image/resize.h"

namespace hearsay::data {

namespace {

constexpr std::size_t kAttempts = 10;
constexpr std::size_t kBlocks = 8;  // blocks of four words per slot
// Words of a slot: two per attempt, then
constexpr std::size_t kTop = 2 * kAttempts;
constexpr std::size_t kLeft = kTop + 1;
constexpr std::size_t kFlip = kTop + 2;

struct Box {
  std::size_t top, left, height, width;
};

class ResizedCrop final : public Augmentation {
 public:
  ResizedCrop(double scale, bool flip) : scale_(scale), flip_(flip) {}

  void check(const Dataset& dataset) const override { require_images("resized-crop", dataset); }

  void read(const Dataset& dataset, const Samples& from, std::size_t i, const Random& random,
            std::size_t slot, std::span<float> out) const override {
    assert(out.size() == dataset.features() && i < from.size());
    std::array<std::uint32_t, 4 * kBlocks> words;
    for (std::size_t b = 0; b < kBlocks; ++b) {
      std::ranges::copy(random.words(slot * kBlocks + b), words.begin() + 4 * b);
    }
    const Box box = draw(words, dataset.stored_height(), dataset.stored_width());
    const std::size_t stride = dataset.stored_width();
    const std::size_t plane = dataset.stored_height() * stride;
    const std::size_t area = dataset.height * dataset.width;
    std::vector<float> crop(box.height * box.width);
    with_entries(dataset, from, i, [&](const auto* entries) {
      for (std::size_t c = 0; c < dataset.channels; ++c) {
        const Normalizer normalize(dataset, c);
        for (std::size_t y = 0; y < box.height; ++y) {
          const auto* row = entries + c * plane + (box.top + y) * stride + box.left;
          float* to = crop.data() + y * box.width;
          for (std::size_t x = 0; x < box.width; ++x) to[x] = normalize(row[x]);
        }
        resize({crop.data(), box.height, box.width, box.width}, dataset.height, dataset.width,
               out.subspan(c * area, area));
      }
    });
    if (flip_ && words[kFlip] >> 31 != 0) {
      for (std::size_t row = 0; row < dataset.channels * dataset.height; ++row) {
        std::ranges::reverse(out.subspan(row * dataset.width, dataset.width));
      }
    }
  }

  Recipe recipe() const override {
    return {.kind = Recipe::Kind::kResizedCrop, .scale = scale_, .flip = flip_};
  }

 private:
  Box draw(std::span<const std::uint32_t> words, std::size_t height, std::size_t width) const {
    const auto place = [&](std::size_t word, std::size_t room) {
      return static_cast<std::size_t>(words[word] * static_cast<std::uint64_t>(room + 1) >> 32);
    };
    const double whole = static_cast<double>(height) * static_cast<double>(width);
    for (std::size_t attempt = 0; attempt < kAttempts; ++attempt) {
      const double u = words[2 * attempt] * 0x1p-32;
      const double v = words[2 * attempt + 1] * 0x1p-32;
      const double area = whole * (scale_ + (1 - scale_) * u);
      const double ratio = std::exp((2 * v - 1) * std::log(4.0 / 3));
      const auto w = static_cast<std::size_t>(std::lround(std::sqrt(area * ratio)));
      const auto h = static_cast<std::size_t>(std::lround(std::sqrt(area / ratio)));
      if (w == 0 || w > width || h == 0 || h > height) continue;
      return {place(kTop, height - h), place(kLeft, width - w), h, w};
    }
    return {0, 0, height, width};
  }

  double scale_;
  bool flip_;
};

}  // namespace

std::unique_ptr<Augmentation> make_resized_crop(const Arguments& arguments) {
  return std::make_unique<ResizedCrop>(arguments.number_in_range("scale"), arguments.flag("flip"));
}

}  // namespace hearsay::data
