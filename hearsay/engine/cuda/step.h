#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hearsay/backend/cuda/context.h"
#include "hearsay/engine/cuda/tensor.h"
#include "hearsay/model/network.h"

namespace hearsay::engine::cuda {

/// What one call of a plan hands to its steps. All addresses are of device memory that each
/// submission fills anew, one entry a peer: the arrays of the peers need not be neighbours.
struct Call {
  const float* const* parameters = nullptr;  ///< [peer] -> d floats
  const float* const* buffers = nullptr;     ///< [peer], read in evaluation
  float* const* new_buffers = nullptr;       ///< [peer], updated in training
  float* const* gradient = nullptr;          ///< [peer] -> d floats, every one is written
  const float* momentum = nullptr;           ///< one: of running statistics
  const std::uint32_t* dropout_keys =
      nullptr;  ///< Philox: see dropout.cu; null: nothing is dropped
  bool training = false;
};

/// One operation of a network (with those fused into it) for m peers. Tensors outlive it.
class Step {
 public:
  virtual ~Step() = default;
  virtual void forward(backend::cuda::Tape& tape, const Call& call) = 0;
  /// From the output's gradient: the inputs' gradients (where wanted; added if Tensor::adds) and
  /// the parameters' (overwritten).
  virtual void backward(backend::cuda::Tape& tape, const Call& call) = 0;
};

/// Where an operation's parameters and buffers lie in a model's flat arrays.
struct Places {
  std::size_t parameter[3] = {0, 0, 0};
  std::size_t buffer[2] = {0, 0};
};

/// What the step of one operation is made from.
struct Site {
  std::uint64_t index = 0;  ///< of the operation, for its random numbers
  Tensor* x = nullptr;
  Tensor* y = nullptr;
  Tensor* residual = nullptr;  ///< added to the output before `relu`
  bool relu = false;           ///< the last thing that happens to the output
  Places places{};
  backend::Precision precision = backend::Precision::kTf32;
  int processors = 132;
};

}  // namespace hearsay::engine::cuda
