#pragma once

#include "hearsay/backend/cuda/context.h"
#include "hearsay/engine/cuda/cross_entropy.h"
#include "hearsay/engine/cuda/tensor.h"
#include "hearsay/engine/loss.h"

namespace hearsay::engine::cuda {

/// Losses of numbers, mse and huber, as cross_entropy.h has that of classes. `targets` has one
/// number per sample and output, standardized.

/// For every peer the mean over samples and outputs of the error terms, in double, to
/// *losses[peer]; the gradient goes to that of the outputs.
void number_loss(backend::cuda::LaunchRecorder& recorder, Tensor& outputs, const float* targets,
                 const Loss& loss, double* const* losses);

/// As `judge`: of each peer the sum of losses and, for each output, of squared errors.
void judge_numbers(backend::cuda::LaunchRecorder& recorder, const Tensor& outputs,
                   const float* targets, const Loss& loss, const Judged* judged, double* totals,
                   double* const* results);

}  // namespace hearsay::engine::cuda
