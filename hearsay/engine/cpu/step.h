#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hearsay/core/random.h"
#include "hearsay/engine/cpu/tensor.h"
#include "hearsay/model/network.h"

namespace hearsay::engine::cpu {

/// What one call of a plan hands to its steps: one peer's arrays.
struct Call {
  const float* parameters = nullptr;
  const float* buffers = nullptr;  ///< read in evaluation
  float* new_buffers = nullptr;    ///< updated in training
  float* gradient = nullptr;
  double momentum = 0;  ///< of running statistics
  bool training = false;
  const Random* random = nullptr;  ///< null: nothing is dropped
};

/// What a step needs of the arena.
struct Demands {
  bool input_in_backward = false;
  bool output_in_backward = false;
  bool output_is_cheap = false;   ///< `remake` is there
  std::size_t scratch_bytes = 0;  ///< for the time of one call of forward or backward
};

/// One operation of a network (with those fused into it), compiled. Tensors outlive it; their
/// pointers are set before the first call.
class Step {
 public:
  virtual ~Step() = default;
  virtual Demands demands() const { return {}; }

  /// Output from inputs.
  virtual void forward(const Call& call, std::byte* scratch) = 0;
  /// The output once more, from the input, between forward and backward.
  virtual void remake() {}
  /// From the output's gradient: the inputs' gradients and the parameters'.
  virtual void backward(const Call& call, std::byte* scratch) = 0;
};

/// Where an operation's parameters and buffers lie in a model's flat arrays.
struct Places {
  std::size_t parameter[3] = {0, 0, 0};  ///< offsets
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
};

/// The step of an operation of that kind.
std::unique_ptr<Step> make_step(const model::Kind& kind, const Site& site);

std::unique_ptr<Step> make_conv2d(const model::Conv2d&, const Site&);
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
std::unique_ptr<Step> make_copy(const Site&);  ///< the same values in another layout

}  // namespace hearsay::engine::cpu
