#pragma once

#include <span>
#include <vector>

#include "hearsay/engine/loss.h"
#include "hearsay/engine/stream_key.h"
#include "hearsay/model/network.h"

namespace hearsay::engine {

/// The definition, what it is on average, and controls that depart from it in one place: a test
/// that cannot tell a control from the definition proves nothing.
enum class Int8Variant {
  kDefinition,
  kMean,           ///< SR8 is not rounded: its mean g / 256
  kTruncation,     ///< SR8 is rounded down: r = 0
  kNoBifurcation,  ///< gradients of weights are made from SR8 too, 8 bits in place of 16
  kScalePerBatch,  ///< the samples of a batch have one scale, the largest one's
};

/// The results of one batch.
struct Int8Outcome {
  double loss = 0;
  std::vector<float> logits;    ///< a row per sample
  std::vector<float> gradient;  ///< in the order of Network::layout()
};

/// The reference of networks in 8 bits: plain loops over channel, row and column, from the formulas
/// of engine/quantize.h and engine/cpu/int8/step.h alone. Integers are 64 bits; floats are rounded
/// after every operation. Every program must compute the same bits: loss, logits, gradient.
///
/// `images` are whole samples of channel, row, column.
Int8Outcome int8_reference(const model::Network& network, std::span<const float> parameters,
                           std::span<const float> images, const Targets& targets,
                           const StreamKey& key, const Loss& loss = {},
                           Int8Variant variant = Int8Variant::kDefinition);

/// The logits in evaluation mode.
std::vector<float> int8_reference_outputs(const model::Network& network,
                                          std::span<const float> parameters,
                                          std::span<const float> images,
                                          Int8Variant variant = Int8Variant::kDefinition);

}  // namespace hearsay::engine
