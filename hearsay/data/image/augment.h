#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "hearsay/core/random.h"
#include "hearsay/core/registry.h"
#include "hearsay/data/dataset.h"

namespace hearsay::data {

/// Sample i of `from` as a model sees it: dataset.features() floats in the order channel, row,
/// column, each (scale / deviation[c]) p + (-mean[c] / deviation[c]), evaluated in that form. For
/// an image stored with a margin, the centre.
void read_sample(const Dataset& dataset, const Samples& from, std::size_t i, std::span<float> out);

/// The parameters of an augmentation, for devices that implement it themselves: see the rows below.
struct Recipe {
  enum class Kind { kNone, kCropFlip, kResizedCrop };
  Kind kind = Kind::kNone;
  std::int64_t padding = 0;
  double scale = 1;
  bool flip = false;
  bool operator==(const Recipe&) const = default;
};

/// A random change of training images that preserves their class.
///
/// Contract, checked for every row of `augmentation_registry()`: `read` is a pure function of its
/// arguments. Its random numbers are words of `random`, which is keyed by (seed, kAugment, peer,
/// round); each slot s has its own range of indices, so that a batch may be read in any order, on
/// any device.
///
/// Thread safety: all members are const and may run concurrently.
class Augmentation {
 public:
  virtual ~Augmentation() = default;

  /// Throws InvalidArgument if it does not support samples of that shape.
  virtual void check(const Dataset& /*dataset*/) const {}

  /// Fill `out` (dataset.features() floats, as read_sample does) with a random change of sample i
  /// of `from`; `slot` is its index in the batch.
  virtual void read(const Dataset& dataset, const Samples& from, std::size_t i,
                    const Random& random, std::size_t slot, std::span<float> out) const = 0;

  virtual Recipe recipe() const = 0;
};

/// One row of the registry.
using AugmentationEntry = Row<std::unique_ptr<Augmentation>()>;

Registry<AugmentationEntry> augmentation_registry();

/// make_augmentation("crop-flip:padding=4"). Throws InvalidArgument, listing the known names.
std::unique_ptr<Augmentation> make_augmentation(std::string_view spec);

/// The same, checked against the dataset it will be used with.
std::unique_ptr<Augmentation> make_augmentation(std::string_view spec, const Dataset& dataset);

/// Throws InvalidArgument, in the name of an augmentation, if samples have only one pixel.
void require_images(std::string_view name, const Dataset& dataset);

// The rows; each that is more than a line has its own source file.

/// Horizontal flip with probability 1/2, then a crop of the image's size out of the image with a
/// border of `padding` zeros; all (2 padding + 1)^2 positions are equally likely. Zeros as stored,
/// so black before normalisation. Words 4 slot .. 4 slot + 2: flip (top bit), row, column, the last
/// two as floor(word (2 padding + 1) / 2^32).
std::unique_ptr<Augmentation> make_crop_flip(const Arguments& arguments);

/// A random rectangle of the stored image (margin included), resized to the size the model sees,
/// then a flip as above: area relative to the stored image uniform in [scale, 1], width / height
/// log-uniform in [3/4, 4/3], redrawn up to ten times if it does not fit, then the whole image.
/// Like torchvision's RandomResizedCrop with an antialiased bilinear resize, without rounding to
/// bytes. Words 32 slot .. 32 slot + 31.
std::unique_ptr<Augmentation> make_resized_crop(const Arguments& arguments);

}  // namespace hearsay::data
