#pragma once

#include <cstdint>

#include "hearsay/backend/cuda/context.h"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/data/dataset.h"
#include "hearsay/engine/cuda/tensor.h"

namespace hearsay::engine::cuda {

/// Which sample goes to a slot of a batch, and which part of it.
///
/// Of size 0: the image moved up by `top` and left by `left` pixels, after it was mirrored; black
/// where there is none. Else: the box of that size at (top, left) of the stored image, stretched to
/// the image's size and then mirrored.
struct Slot {
  std::uint32_t sample = 0;
  std::int32_t top = 0, left = 0;
  std::int32_t height = 0, width = 0;
  std::uint32_t mirrored = 0;
};

/// Samples of a dataset on the device, as they are stored.
class ImageReader {
 public:
  ImageReader(const data::Dataset& dataset, const data::Samples& samples);

  std::size_t size() const { return size_; }

  /// Fills `images`, as a model sees them, and `labels` or, in a regression, `numbers`
  /// (standardized targets) with the samples of as many slots (device memory): what
  /// data::Augmentation::read and data::read_targets make of them, exact unless they are stretched.
  void read(backend::cuda::LaunchRecorder& recorder, const Slot* slots, const Tensor& images,
            std::uint16_t* labels, float* numbers) const;

 private:
  std::uint32_t channels_, height_, width_, margin_;
  std::uint32_t targets_each_;  ///< numbers per sample of a regression
  std::size_t size_;
  backend::cuda::Memory<std::uint8_t> pixels_;
  backend::cuda::Memory<float> values_;
  backend::cuda::Memory<std::uint16_t> labels_;
  backend::cuda::Memory<float> numbers_;
  backend::cuda::Memory<float2> normalizers_;  ///< slope and offset of each channel
};

}  // namespace hearsay::engine::cuda
