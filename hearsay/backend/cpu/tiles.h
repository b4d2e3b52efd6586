#pragma once

#include <cstddef>

namespace hearsay::backend::cpu {

/// The memory layout of the activations of one batch: sample, block of channels, pixel, channel
/// within the block. oneDNN's nChw16c is block = 16; plain NCHW is block = 1; a batch of vectors is
/// one pixel and one block of all features.
///
/// An incomplete last block is padded with zeros, and every writer of a tensor preserves them.
struct Tiles {
  std::size_t samples = 0;
  std::size_t channels = 0;
  std::size_t pixels = 0;
  std::size_t block = 1;

  std::size_t blocks() const { return (channels + block - 1) / block; }
  std::size_t padded_channels() const { return blocks() * block; }
  std::size_t sample_size() const { return padded_channels() * pixels; }
  std::size_t size() const { return samples * sample_size(); }
  /// Of some of the samples, one after another.
  Tiles of(std::size_t count) const { return {count, channels, pixels, block}; }

  /// The offset of channel c and pixel p of sample n.
  std::size_t at(std::size_t n, std::size_t c, std::size_t p) const {
    return ((n * blocks() + c / block) * pixels + p) * block + c % block;
  }
};

/// One float per padded channel: the same for all samples (stride 0), or separate for each
/// (stride = padded channels).
struct PerChannel {
  const float* data = nullptr;
  std::size_t stride = 0;

  /// From that sample on.
  PerChannel from(std::size_t sample) const { return {data + sample * stride, stride}; }
};

}  // namespace hearsay::backend::cpu
