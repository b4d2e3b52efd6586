// In the place of the GPU's networks where this build has none.
#include "hearsay/engine/cuda/classifier.h"
#include "hearsay/engine/on_host.h"

namespace hearsay::engine::cuda {

std::unique_ptr<Objective> make_cuda_classifier(std::shared_ptr<const data::Dataset> dataset,
                                                data::Partition parts, model::Network network,
                                                std::unique_ptr<data::Augmentation> augmentation,
                                                const ObjectiveContext& context) {
  return on_host(make_classifier(std::move(dataset), std::move(parts), std::move(network),
                                 std::move(augmentation), context),
                 context);
}

}  // namespace hearsay::engine::cuda
