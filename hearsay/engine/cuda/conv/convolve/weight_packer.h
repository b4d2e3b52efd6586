#pragma once

#include <cstddef>
#include <vector>

#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/conv/conv_geometry.h"
#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

/// Weights of one convolution in the order in which blocks read them:
///   [peer][group of outputs][chunk of inputs][tap][output][input], each output `pitch` bytes,
/// zeros where there is no weight. For backward to the input, outputs and inputs are exchanged and
/// the taps reversed.
struct PackedWeights {
  long weight_at = 0;  ///< offset in a peer's parameters of [out][in][taps]
  int out = 0, in = 0, taps = 0;
  int exchanged = 0;
  int outputs_a_group = 0, inputs_a_chunk = 0, pitch_entries = 0;
  int groups = 0, chunks = 0;
  int first_block = 0;  ///< its first in the launch that packs all
  int outputs_a_block = 0;
  Divisor row_pieces{}, tap_pieces{};  ///< of 16 bytes: in an output, in a block's outputs
  void* packed = nullptr;
  long peer_bytes = 0;
};

/// Packs the weights of all convolutions of a network for one direction, in one launch.
class WeightPacker {
 public:
  explicit WeightPacker(backend::Precision precision) : precision_(precision) {}

  void add(const PackedWeights& weights) { jobs_.push_back(weights); }
  /// On the launch recorder's current stream.
  void pack(backend::cuda::LaunchRecorder& recorder, const Call& call, std::size_t peers);

 private:
  void prepare();

  backend::Precision precision_;
  std::vector<PackedWeights> jobs_;
  backend::cuda::Memory<PackedWeights> on_device_;  ///< a copy, made by the first call
  backend::cuda::Memory<unsigned> job_of_block_;
  std::size_t shared_bytes_ = 0;
};

}  // namespace hearsay::engine::cuda
