#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hearsay/engine/loss.h"
#include "hearsay/model/network.h"
#include "model/operation_cases.h"

namespace hearsay::golden {

/// PyTorch's values of a tensor: all its entries if they are few, else its 2-norm and sums with
/// random signs (see golden.py).
struct Expected {
  std::string name;
  std::size_t size = 0;
  double scale = 0, offset = 0;  ///< of the weights; a buffer has none
  std::vector<double> facts;

  /// An estimate of |x - expected| / |expected|, less than half of it only once in a thousand
  /// cases.
  double error(std::size_t place, std::span<const double> x) const;
};

/// A file written by golden.py.
struct GoldenFile {
  std::string spec;
  model::Shape input;
  std::size_t outputs = 10;
  engine::Loss loss_kind{};
  std::size_t batch = 0;
  std::uint32_t images = 0;  ///< the stream of the images
  double margin = 0;         ///< least distance of the inputs of kinks from the kink
  double loss = 0;
  std::vector<double> logits;  ///< in evaluation mode, after the training step
  std::vector<Expected> tensors, buffers;

  /// The weights, initial buffers, images and targets that PyTorch was given.
  model::Example example(const model::Network& net) const;
};

GoldenFile read_golden(const std::string& name);

}  // namespace hearsay::golden
