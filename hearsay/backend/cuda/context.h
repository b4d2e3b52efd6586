#pragma once

#include "hearsay/backend/cuda/launch_recorder.h"
#include "hearsay/backend/device.h"
#include "hearsay/backend/kernels.h"

namespace hearsay::backend::cuda {

/// What compressors and networks on the GPU share with the Kernels of a run: the launch recorder,
/// so the order of work, and what the card can do.
struct Context {
  LaunchRecorder recorder;
  Precision precision = Precision::kTf32;
  int processors = 0;    ///< streaming multiprocessors
  int shared_bytes = 0;  ///< of shared memory, the most that a block can have
  bool has_tma = false;  ///< the card has TMA, and this build code for it (sm_90 on)
};

/// The context of kernels whose device() is "cuda".
Context& context_of(Kernels& kernels);

}  // namespace hearsay::backend::cuda
