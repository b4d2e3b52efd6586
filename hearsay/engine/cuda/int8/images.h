#pragma once

#include "hearsay/backend/cuda/launch_recorder.h"
#include "hearsay/engine/cuda/int8/tensor.h"

namespace hearsay::engine::cuda::int8 {

/// codes = Q8 of each sample of `images`, floats in the order pixel, channel (not padded).
void quantize_images(backend::cuda::LaunchRecorder& recorder, const float* images,
                     const Tensor& codes);

/// The gradient of the network's outputs, dense rows, as that of `y`, whose channels are padded.
void pad_outputs(backend::cuda::LaunchRecorder& recorder, const float* gradient, const Tensor& y);

}  // namespace hearsay::engine::cuda::int8
