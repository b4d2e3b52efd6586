#pragma once

#include <memory>

#include "hearsay/backend/cuda/context.h"
#include "hearsay/engine/cuda/int8/sums.h"
#include "hearsay/engine/cuda/int8/tensor.h"
#include "hearsay/engine/cuda/int8/weights.h"
#include "hearsay/engine/cuda/step.h"

/// The operations of networks in 8 bits on the GPU. What they compute is defined to the bit in
/// engine/quantize.h, and is what cpu/int8/ computes: codes with a scale per sample, gradients
/// between operations in floats.
///
/// Ranges are of a sample, so a sample is one block: it reduces to the range of its output before
/// it writes the output's codes, and no launch waits for another block.
namespace hearsay::engine::cuda::int8 {

using cuda::Call;

/// One operation (with those fused into it) for m peers. Tensors outlive it.
class Step {
 public:
  virtual ~Step() = default;
  virtual void forward(backend::cuda::LaunchRecorder& recorder, const Call& call) = 0;
  /// From the output's gradient: the inputs' gradients (where wanted; added if Tensor::adds), and
  /// the parts of the parameters' (sums.h).
  virtual void backward(backend::cuda::LaunchRecorder& recorder, const Call& call) = 0;
};

struct Site : BasicSite<Tensor> {
  float* outputs = nullptr;          ///< not null: y is the network's output, dense floats
  float* output_gradient = nullptr;  ///< likewise
  int processors = 132;
  int shared_bytes = 0;  ///< the most that a block can have
  bool training = false;
  WeightCodes* weights = nullptr;  ///< of all layers
  SumCollector* sums = nullptr;    ///< of all layers
};

std::unique_ptr<Step> make_conv2d(const model::Conv2d&, const Site&);
std::unique_ptr<Step> make_linear(const model::Linear&, const Site&);
std::unique_ptr<Step> make_range_evo_norm(const model::RangeEvoNorm&, const Site&);
/// Both in one step, the norm being the only reader of the convolution's output. Null: they do not
/// fit one block.
std::unique_ptr<Step> make_conv_norm(const model::Conv2d&, const Site& conv,
                                     const model::RangeEvoNorm&, const Site& norm);
std::unique_ptr<Step> make_relu(const Site&);
std::unique_ptr<Step> make_add(const Site&);
std::unique_ptr<Step> make_shortcut(const Site&);
std::unique_ptr<Step> make_max_pool(const model::MaxPool&, const Site&);
std::unique_ptr<Step> make_global_average_pool(const Site&);
std::unique_ptr<Step> make_dropout(const model::Dropout&, const Site&);
std::unique_ptr<Step> make_flatten(const Site&);

// Refused before a step is made: check_int8.
inline std::unique_ptr<Step> make_batch_norm(const Site&) { return nullptr; }
inline std::unique_ptr<Step> make_group_norm(const model::GroupNorm&, const Site&) {
  return nullptr;
}
inline std::unique_ptr<Step> make_layer_norm(const Site&) { return nullptr; }
inline std::unique_ptr<Step> make_evo_norm(const model::EvoNorm&, const Site&) { return nullptr; }
inline std::unique_ptr<Step> make_gelu(const Site&) { return nullptr; }

}  // namespace hearsay::engine::cuda::int8
