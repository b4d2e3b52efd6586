#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hearsay/backend/cuda/launch_recorder.h"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda::int8 {

/// Parts of the gradient of parameters at .. at + count of every peer, which blocks leave for one
/// launch to add up in the order of engine/quantize.h.
struct PartialSums {
  std::size_t at = 0;
  unsigned count = 0;
  unsigned stride = 0;          ///< entries between parts
  const void* parts = nullptr;  ///< [peer][part][entry]: floats, or 64-bit integers of products
  /// Of products: [peer][chunk], the chunk's unit R. Null: floats, one part per sample.
  const float* units = nullptr;
  unsigned sums = 0;    ///< samples, or chunks, of a peer
  unsigned slices = 1;  ///< parts of a chunk
  unsigned first_block = 0;
  unsigned unused = 0;
};

/// Adds up the partial sums of all layers.
class SumCollector {
 public:
  void add(PartialSums sums);
  /// Once, after the last backward. Joins the streams that make the parts.
  void collect(backend::cuda::LaunchRecorder& recorder, const Call& call, std::size_t peers);

 private:
  std::vector<PartialSums> jobs_;
  unsigned blocks_ = 0;
  backend::cuda::Memory<PartialSums> on_device_;  ///< a copy, made by the first call
  backend::cuda::Memory<unsigned> job_of_block_;
};

}  // namespace hearsay::engine::cuda::int8
