#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hearsay/backend/cuda/context.h"
#include "hearsay/engine/cuda/stream_key.h"
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
  const StreamKey* dropout_keys = nullptr;   ///< [peer]; null: nothing is dropped
  bool training = false;
};

/// One operation of a network (with those fused into it) for m peers. Tensors outlive it.
///
/// The tape compares the arguments of kernels byte by byte, so structs among them have no padding:
/// flags are `unsigned`, and come in numbers that fill 8 bytes before the next address.
class Step {
 public:
  virtual ~Step() = default;
  virtual void forward(backend::cuda::Tape& tape, const Call& call) = 0;
  /// From the output's gradient: the inputs' gradients (where wanted; added if Tensor::adds) and
  /// the parameters' (overwritten).
  virtual void backward(backend::cuda::Tape& tape, const Call& call) = 0;
};

/// Where an operation's parameters and buffers lie in a model's flat arrays.
inline constexpr std::size_t kNowhere = ~std::size_t{0};
struct Places {
  std::size_t parameter[3] = {0, 0, 0};
  std::size_t buffer[2] = {0, 0};
};

class WeightPacker;

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
  int shared_bytes = 0;                     ///< the most that a block can have
  bool bulk_copies = false;                 ///< the hardware copies tensors by itself
  WeightPacker* forward_packer = nullptr;   ///< packs before the first step
  WeightPacker* backward_packer = nullptr;  ///< before the first one back
};

/// The step of an operation of that kind.
std::unique_ptr<Step> make_step(const model::Kind& kind, const Site& site);

std::unique_ptr<Step> make_conv2d(const model::Conv2d&, const Site&);
/// Any convolution, one thread an output, in float: for shapes that nobody hurries with, and what
/// faster ones are tested against.
std::unique_ptr<Step> make_plain_conv2d(const model::Conv2d&, const Site&);
std::unique_ptr<Step> make_linear(const model::Linear&, const Site&);
std::unique_ptr<Step> make_batch_norm(const Site&);
std::unique_ptr<Step> make_group_norm(const model::GroupNorm&, const Site&);
std::unique_ptr<Step> make_layer_norm(const Site&);
std::unique_ptr<Step> make_evo_norm(const model::EvoNorm&, const Site&);
std::unique_ptr<Step> make_range_evo_norm(const model::RangeEvoNorm&, const Site&);
std::unique_ptr<Step> make_relu(const Site&);
std::unique_ptr<Step> make_hard_sigmoid(const Site&);
std::unique_ptr<Step> make_gelu(const Site&);
std::unique_ptr<Step> make_add(const Site&);  ///< x + residual
std::unique_ptr<Step> make_shortcut(const Site&);
std::unique_ptr<Step> make_max_pool(const model::MaxPool&, const Site&);
std::unique_ptr<Step> make_average_pool(const model::AveragePool&, const Site&);
std::unique_ptr<Step> make_global_average_pool(const Site&);
std::unique_ptr<Step> make_dropout(const model::Dropout&, const Site&);
std::unique_ptr<Step> make_flatten(const Site&);

}  // namespace hearsay::engine::cuda
