#pragma once

#include <cstddef>

namespace hearsay::backend::cpu {

/// How the activations of one batch lie in memory: sample, block of channels, pixel, channel within
/// the block. oneDNN's nChw16c is block = 16; plain NCHW is block = 1; a batch of vectors is one
/// pixel and one block of all features.
///
/// A last block that is not full is filled up with zeros, and whoever writes a tensor keeps them.
struct Tiles {
  std::size_t samples = 0;
  std::size_t channels = 0;
  std::size_t pixels = 0;
  std::size_t block = 1;

  std::size_t blocks() const { return (channels + block - 1) / block; }
  std::size_t padded_channels() const { return blocks() * block; }
  std::size_t size() const { return samples * padded_channels() * pixels; }

  /// The place of channel c and pixel p of sample n.
  std::size_t at(std::size_t n, std::size_t c, std::size_t p) const {
    return ((n * blocks() + c / block) * pixels + p) * block + c % block;
  }
};

/// One float a padded channel: the same for all samples (stride 0), or its own for each
/// (stride = padded channels).
struct PerChannel {
  const float* data = nullptr;
  std::size_t stride = 0;
};

}  // namespace hearsay::backend::cpu
