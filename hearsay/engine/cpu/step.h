#pragma once

#include <cstddef>
#include <memory>

#include "hearsay/engine/cpu/lanes.h"
#include "hearsay/engine/cpu/tensor.h"
#include "hearsay/engine/step.h"

namespace hearsay::engine::cpu {

/// One peer at a time, so an array is one address.
struct OnePeer {
  template <class T>
  using Rows = T*;
  using Momentum = double;
};
using Call = BasicCall<OnePeer>;
struct Site : BasicSite<Tensor> {
  Lanes lanes{};
};

/// The memory that a step needs from the arena.
struct Demands {
  bool input_in_backward = false;
  bool output_in_backward = false;
  bool output_is_cheap = false;  ///< `recompute` is implemented
  /// For the duration of one call of forward or backward, of all lanes.
  std::size_t scratch_bytes = 0;
};

/// One operation of a network (with those fused into it), compiled. Tensors outlive it; their
/// pointers are set before the first call.
class Step {
 public:
  virtual ~Step() = default;
  virtual Demands demands() const { return {}; }

  /// Computes the output from the inputs.
  virtual void forward(const Call& call, std::byte* scratch) = 0;
  /// Recomputes the output from the input, between forward and backward.
  virtual void recompute() {}
  /// Computes the gradients of inputs and parameters from the output's gradient.
  virtual void backward(const Call& call, std::byte* scratch) = 0;
};

std::unique_ptr<Step> make_conv2d(const model::Conv2d&, const Site&);
std::unique_ptr<Step> make_linear(const model::Linear&, const Site&);
std::unique_ptr<Step> make_batch_norm(const Site&);
std::unique_ptr<Step> make_group_norm(const model::GroupNorm&, const Site&);
std::unique_ptr<Step> make_layer_norm(const Site&);
std::unique_ptr<Step> make_evo_norm(const model::EvoNorm&, const Site&);
std::unique_ptr<Step> make_range_evo_norm(const model::RangeEvoNorm&, const Site&);
std::unique_ptr<Step> make_relu(const Site&);
std::unique_ptr<Step> make_gelu(const Site&);
std::unique_ptr<Step> make_add(const Site&);  ///< x + residual
std::unique_ptr<Step> make_shortcut(const Site&);
std::unique_ptr<Step> make_max_pool(const model::MaxPool&, const Site&);
std::unique_ptr<Step> make_global_average_pool(const Site&);
std::unique_ptr<Step> make_dropout(const model::Dropout&, const Site&);
std::unique_ptr<Step> make_copy(const Site&);  ///< the same values in another layout
std::unique_ptr<Step> make_flatten(const Site&);

}  // namespace hearsay::engine::cpu
