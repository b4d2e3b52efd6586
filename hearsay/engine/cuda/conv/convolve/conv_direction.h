#pragma once

#include <cstddef>

#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/conv/conv_choice.h"
#include "hearsay/engine/cuda/conv/convolve/weight_packer.h"
#include "hearsay/model/operation.h"

namespace hearsay::engine::cuda {

/// A convolution in one direction, forward (x to y) or backward to the input (grad_output to the
/// gradient of x): its kernel, tiles and packed weights.
class ConvDirection {
 public:
  /// `input` is what every launch reads.
  ConvDirection(const Site& site, const ConvGeometry& geometry, const model::Conv2d& conv,
                bool backward, const void* input);

  /// Whether there is a kernel for it; if not, nothing below may be called.
  bool possible() const { return choice_.kernel != nullptr; }

  /// From now on `packer` packs these weights too.
  void have_packed(WeightPacker& packer) const { packer.add(job_); }

  /// Whether a launch can sum up what it writes, for each channel, and mask it.
  bool can_sum() const { return choice_.geometry.out_c % choice_.kernel->out == 0; }
  /// Whether those sums can be moments: all tiles must have the same number of pixels.
  bool can_sum_moments() const;
  /// Lets `launch` do so; the sums stand where this says.
  TileSums sum(ConvLaunch& launch);

  /// The geometry, the input and the weights of `launch` are filled in here.
  void launch(backend::cuda::LaunchRecorder& recorder, ConvLaunch launch) const;

 private:
  ConvChoice choice_;
  bool backward_;
  const void* input_;
  std::size_t peers_;
  int groups_ = 1;          ///< of output channels
  int blocks_at_once_ = 1;  ///< blocks of a TMA kernel that the device holds at once
  CUtensorMap map_{};
  long peer_bytes_ = 0;
  backend::cuda::Memory<char> packed_;
  PackedWeights job_;
  backend::cuda::Memory<float2> sums_;
};

}  // namespace hearsay::engine::cuda
