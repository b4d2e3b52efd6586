// In the place of the CUDA backend where this build has none.
#include "hearsay/backend/cuda/devices.h"
#include "hearsay/backend/device.h"
#include "hearsay/core/error.h"

namespace hearsay::backend {

int cuda::device_count() { return 0; }

std::unique_ptr<Kernels> make_cuda_kernels(const Arguments&, ThreadPool&) {
  throw InvalidArgument(
      "[device] this build has no CUDA backend: nvcc was missing when it was configured; build "
      "with "
      "the cuda preset, or use --device cpu");
}

}  // namespace hearsay::backend
