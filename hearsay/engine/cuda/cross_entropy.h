#pragma once

#include <cstdint>

#include "hearsay/backend/cuda/context.h"
#include "hearsay/engine/cuda/tensor.h"

namespace hearsay::engine::cuda {

/// For every peer the mean over its samples of ln sum_k exp(l_k) - l_label, in double, to
/// *losses[peer], which may be memory of the host; the gradient goes to that of the logits.
/// `labels` has one per sample, `losses` is in the staging buffer.
void cross_entropy(backend::cuda::LaunchRecorder& recorder, Tensor& logits,
                   const std::uint16_t* labels, double* const* losses);

/// How many of each peer's samples count, and whether they are the first.
struct Judged {
  std::uint32_t count;
  std::uint32_t first;
};

/// Sums over samples.
struct ClassTotals {
  double loss;
  double right;  ///< how many have the largest logit at their label (ties: the first)
};

/// Adds the first `count` samples of every peer to totals[peer], after clearing it if they are the
/// first, and copies the total to (*results)[peer], memory of the host. `judged` and `results` are
/// in the staging buffer.
void judge(backend::cuda::LaunchRecorder& recorder, const Tensor& logits,
           const std::uint16_t* labels, const Judged* judged, ClassTotals* totals,
           ClassTotals* const* results);

}  // namespace hearsay::engine::cuda
