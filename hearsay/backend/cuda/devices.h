#pragma once

namespace hearsay::backend::cuda {

/// How many GPUs this build could use here; 0 without a driver, or without the CUDA backend.
int device_count();

}  // namespace hearsay::backend::cuda
