#pragma once

#include <span>
#include <string>

#include "hearsay/data/dataset.h"
#include "hearsay/model/description.h"

namespace hearsay::run {

/// The outputs of a network for the samples of a set, as CSV with a header, a row per sample in
/// their order:
///
///   label,predicted,CLASS,...    the classes' names, or their numbers; then the logits
///   TARGET,predicted TARGET,...  in the targets' own unit
///
/// Numbers are exact: reading them as 32-bit floats gives the same bits. `outputs` has a row per
/// sample, as the network gives them.
std::string predictions_csv(const data::Samples& samples, const model::Description& description,
                            std::span<const float> outputs);

}  // namespace hearsay::run
