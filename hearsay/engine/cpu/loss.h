#pragma once

#include <cstddef>
#include <span>

#include "hearsay/engine/loss.h"
#include "hearsay/engine/plan.h"

namespace hearsay::engine::cpu {

/// The part of a batch's mean loss that is of the samples given, in double; `gradient` is set to
/// its derivative by each output. `outputs` has a row of `width` per sample; the mean is over
/// `batch`.
double batch_loss(const Loss& loss, std::span<const float> outputs, std::size_t width,
                  std::size_t batch, const Targets& targets, std::span<float> gradient);

/// Adds one sample, whose `targets` are of it alone, to the sums of an evaluation.
void add_sample(const Loss& loss, std::span<const float> outputs, const Targets& targets,
                Totals& totals);

}  // namespace hearsay::engine::cpu
