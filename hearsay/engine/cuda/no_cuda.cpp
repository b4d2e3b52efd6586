// In the place of the GPU's networks where this build has none.
#include "hearsay/engine/cuda/classifier.h"
#include "hearsay/engine/on_host.h"

namespace hearsay::engine::cuda {

std::unique_ptr<Objective> make_cuda_classifier(data::Share share, model::Network network,
                                                std::unique_ptr<data::Augmentation> augmentation,
                                                const ObjectiveContext& context) {
  return on_host(
      make_classifier(std::move(share), std::move(network), std::move(augmentation), context),
      context);
}

}  // namespace hearsay::engine::cuda
