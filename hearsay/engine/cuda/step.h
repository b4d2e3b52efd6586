#pragma once

#include <cstddef>
#include <memory>

#include "hearsay/backend/cuda/context.h"
#include "hearsay/engine/cuda/tensor.h"
#include "hearsay/engine/step.h"

namespace hearsay::engine::cuda {

/// All peers at once. Addresses are of device memory that every submission refills, with one
/// entry per peer: the arrays of the peers need not be neighbours.
struct AllPeers {
  template <class T>
  using Rows = T* const*;
  using Momentum = const float*;
};
using Call = BasicCall<AllPeers>;

/// One operation of a network (with those fused into it) for m peers. Tensors outlive it.
///
/// The launch recorder compares the arguments of kernels byte by byte, so structs among them have
/// no padding: flags are `unsigned`, and come in numbers that fill 8 bytes before the next address.
class Step {
 public:
  virtual ~Step() = default;
  virtual void forward(backend::cuda::LaunchRecorder& recorder, const Call& call) = 0;
  /// From the output's gradient: the inputs' gradients (where wanted; added if Tensor::adds) and
  /// the parameters' (overwritten).
  virtual void backward(backend::cuda::LaunchRecorder& recorder, const Call& call) = 0;
};

/// In the place of an offset (Places): there is no such array.
inline constexpr std::size_t kNowhere = ~std::size_t{0};

class WeightPacker;

/// With what a step must know of the device.
struct Site : BasicSite<Tensor> {
  backend::Precision precision = backend::Precision::kTf32;
  int processors = 132;
  int shared_bytes = 0;                     ///< the most that a block can have
  bool has_tma = false;                     ///< the card has TMA (sm_90 on)
  WeightPacker* forward_packer = nullptr;   ///< packs before the first step forward
  WeightPacker* backward_packer = nullptr;  ///< before the first step backward
};

std::unique_ptr<Step> make_conv2d(const model::Conv2d&, const Site&);
/// Any convolution, one thread per output, in float: the slow fallback for unusual shapes, and what
/// faster ones are tested against.
std::unique_ptr<Step> make_plain_conv2d(const model::Conv2d&, const Site&);
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
std::unique_ptr<Step> make_flatten(const Site&);

}  // namespace hearsay::engine::cuda
