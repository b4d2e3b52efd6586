// In the place of the GPU's networks where this build has none.
#include "hearsay/core/error.h"
#include "hearsay/engine/plan.h"

namespace hearsay::engine {

std::unique_ptr<DeviceBank> make_cuda_bank(const model::Network&, const data::Share&,
                                           const data::Augmentation&, const Loss&,
                                           const ObjectiveContext&) {
  throw InvalidArgument("[device] this build has no CUDA backend; use --device cpu");
}

}  // namespace hearsay::engine
