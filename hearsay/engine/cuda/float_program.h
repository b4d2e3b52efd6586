#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/engine/cuda/conv/convolve/weight_packer.h"
#include "hearsay/engine/cuda/program.h"
#include "hearsay/engine/cuda/step.h"
#include "hearsay/engine/fuse.h"

namespace hearsay::engine::cuda {

/// A network in floats: activations are stored as the precision's type, products are of it, and
/// everything else is computed in single precision.
class FloatProgram final : public Program {
 public:
  /// Throws InvalidArgument if a value of the network is not read, or has 2^31 entries.
  FloatProgram(const model::Network& network, std::size_t peers, std::size_t batch, Use use,
               backend::cuda::Context& context, const Loss& loss);

  const Tensor& images() const override { return tensors_.front(); }
  const Tensor& outputs() const override { return *outputs_; }

  void gradient(std::span<const float* const> parameters, std::span<float* const> buffers,
                std::span<const StreamKey> keys, std::span<float* const> gradients,
                std::span<double* const> losses) override;
  void outputs(std::span<const float* const> parameters,
               std::span<const float* const> buffers) override;
  void observe(std::span<const float* const> parameters, std::span<float* const> buffers,
               double momentum) override;

  static std::size_t bytes_per_sample(const model::Network& network, Use use,
                                      backend::Precision precision);

 private:
  void add_step(const model::Network& network, const Fused& fused);
  void forward(const Call& call);

  std::vector<Tensor> tensors_;  ///< one per value; those fused away have no memory
  std::vector<backend::cuda::Memory<std::byte>> memory_;
  WeightPacker forward_packer_, backward_packer_;
  std::vector<std::unique_ptr<Step>> steps_;
  Tensor* outputs_ = nullptr;
};

}  // namespace hearsay::engine::cuda
