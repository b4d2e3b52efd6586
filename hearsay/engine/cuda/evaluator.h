#pragma once

#include <span>
#include <vector>

#include "hearsay/engine/cuda/cross_entropy.h"
#include "hearsay/engine/cuda/image_reader.h"
#include "hearsay/engine/cuda/plan.h"

namespace hearsay::engine::cuda {

/// How m models do on all samples of a set, as they are, side by side and in large batches.
class Evaluator {
 public:
  /// Batches are as large as some memory allows, and no larger than `most`.
  Evaluator(const model::Network& network, std::size_t models, std::size_t most,
            backend::cuda::Context& context);

  /// Records the evaluation on the set: results[i] is model i's verdict after `synchronize`.
  /// `results` is memory of the host. Addresses are of device memory, one a model.
  void judge_all(const ImageReader& set, std::span<const float* const> parameters,
                 std::span<const float* const> buffers, Verdict* results);

 private:
  backend::cuda::Context& context_;
  Plan plan_;
  backend::cuda::Memory<Verdict> totals_;
  std::vector<Slot> slots_;
};

}  // namespace hearsay::engine::cuda
