#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/engine/cuda/int8/step.h"
#include "hearsay/engine/cuda/program.h"
#include "hearsay/engine/fuse.h"

namespace hearsay::engine::cuda::int8 {

/// A network in 8 bits. Models stay in floats: every call quantizes the parameters that it is
/// given. A model that is not finite has no loss (NaN): codes would hide it.
class Program final : public cuda::Program {
 public:
  /// Throws InvalidArgument: 8 bits cannot train the network (check_int8.h), or a value of it is
  /// not read or has 2^31 entries.
  Program(const model::Network& network, std::size_t peers, std::size_t batch, Use use,
          backend::cuda::Context& context, const Loss& loss);

  const cuda::Tensor& images() const override { return images_; }
  const cuda::Tensor& outputs() const override { return outputs_; }

  void gradient(std::span<const float* const> parameters, std::span<float* const> buffers,
                std::span<const StreamKey> keys, std::span<float* const> gradients,
                std::span<double* const> losses) override;
  void outputs(std::span<const float* const> parameters,
               std::span<const float* const> buffers) override;
  /// These networks have no running statistics.
  void observe(std::span<const float* const>, std::span<float* const>, double) override {}

  static std::size_t bytes_per_sample(const model::Network& network, Use use);

 private:
  template <class T>
  T* allocate(std::size_t count);
  Site site_of(const model::Network& network, const Fused& fused, bool training);
  /// Whether one step computes both.
  bool add_conv_norm(const model::Network& network, const Fused& first, const Fused& second,
                     bool training);
  void forward(const Call& call);

  std::vector<backend::cuda::Memory<std::byte>> memory_;
  cuda::Tensor images_, outputs_;
  std::vector<Tensor> tensors_;  ///< one per value; those fused away have no memory
  WeightCodes weights_;
  SumCollector sums_;
  std::vector<std::unique_ptr<Step>> steps_;
};

}  // namespace hearsay::engine::cuda::int8
