#pragma once

#include <span>
#include <vector>

#include "hearsay/backend/precision.h"
#include "hearsay/data/dataset.h"
#include "hearsay/model/network.h"

namespace hearsay::engine::cpu {

/// The network's outputs in evaluation mode, a row of network.outputs() for each of the samples:
/// logits, or standardized numbers. `precision` is kFp32 or kInt8. Throws as `make_program`.
std::vector<float> outputs_on(const data::Dataset& dataset, const data::Samples& samples,
                              const model::Network& network, std::span<const float> parameters,
                              std::span<const float> buffers, backend::Precision precision,
                              ThreadPool& pool);

}  // namespace hearsay::engine::cpu
