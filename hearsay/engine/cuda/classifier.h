#pragma once

#include <memory>

#include "hearsay/engine/classifier.h"

namespace hearsay::engine::cuda {

/// The classifier of classifier.h for a bank on the GPU: same batches, augmentation, dropout and
/// statistics, same scores up to rounding. The context's kernels are of device "cuda".
std::unique_ptr<Objective> make_cuda_classifier(data::Share share, model::Network network,
                                                std::unique_ptr<data::Augmentation> augmentation,
                                                const ObjectiveContext& context);

}  // namespace hearsay::engine::cuda
