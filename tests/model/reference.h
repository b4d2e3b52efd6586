#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hearsay/core/random.h"
#include "hearsay/engine/loss.h"
#include "hearsay/model/network.h"

namespace hearsay::model {

using Doubles = std::vector<double>;

/// Whether dropout, as the operation with that index, drops that entry (channel, row, column) of
/// that sample. An empty function disables dropout.
using Dropped = std::function<bool(std::size_t operation, std::size_t sample, std::size_t entry)>;

/// The mask specified in model/operation.h for Dropout.
Dropped dropped_by(const Network& net, const Random& random);

/// Images (sample, channel, row, column), their labels or numbers, and the loss that reads these.
struct Samples {
  Doubles images;
  std::vector<std::uint16_t> labels{};
  std::vector<float> numbers{};
  engine::Loss loss{};

  engine::Targets targets() const { return {labels, numbers}; }
};

/// The results of one batch in training mode.
struct Outcome {
  double loss = 0;  ///< mean over the samples
  Doubles logits, gradient, images_gradient;
};

/// The reference: a network interpreted operation by operation in double precision, by the formulas
/// of model/operation.h in plain loops. Every plan must compute the same.
///
/// `parameters` and `buffers` are laid out as in Network::layout() and Network::buffers(); training
/// updates `buffers`. Backward passes are checked by central differences in reference_test.cpp.
Outcome reference_gradient(const Network& net, const Doubles& parameters, Doubles& buffers,
                           const Samples& samples, const Dropped& dropped);

/// Only the loss; does not change `buffers`.
double reference_loss(const Network& net, const Doubles& parameters, const Doubles& buffers,
                      const Samples& samples, const Dropped& dropped);

/// The logits in evaluation mode.
Doubles reference_logits(const Network& net, const Doubles& parameters, const Doubles& buffers,
                         const Doubles& images);

/// Updates running statistics as Plan::observe does.
void reference_observe(const Network& net, const Doubles& parameters, Doubles& buffers,
                       const Doubles& images, double momentum);

}  // namespace hearsay::model
