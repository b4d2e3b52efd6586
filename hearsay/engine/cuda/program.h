#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/backend/cuda/context.h"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/conv/convolve/weight_packer.h"
#include "hearsay/engine/cuda/step.h"
#include "hearsay/engine/fuse.h"
#include "hearsay/engine/loss.h"

namespace hearsay::engine::cuda {

/// A network compiled for the GPU, m peers and a batch size.
///
/// It holds no parameters: every call is handed the addresses of the peers' flat arrays (device
/// memory, in the plain layout of Network::layout()), one per peer, and records its launches with
/// the context's launch recorder. The launches of two calls of one kind are the same, whatever the
/// addresses. All memory is allocated once. The results of a peer do not depend on the others.
class Program {
 public:
  enum class Use { kTraining, kForward };  ///< kForward: no memory for gradients

  /// Throws InvalidArgument if a value of the network is not read, or has 2^31 entries.
  Program(const model::Network& network, std::size_t peers, std::size_t batch, Use use,
          backend::cuda::Context& context, const Loss& loss = {});

  std::size_t peers() const { return peers_; }
  std::size_t batch() const { return batch_; }

  /// Where the next batch is put: its images, and per sample one label or, if the loss is of
  /// numbers, one for each output. Calls below read them.
  const Tensor& images() const { return tensors_.front(); }
  std::uint16_t* labels() const { return labels_.data(); }
  float* numbers() const { return numbers_.data(); }
  /// What the call `outputs` computed.
  const Tensor& outputs() const { return *outputs_; }

  /// *losses[i] = the loss of peer i's samples in training mode, gradients[i] its gradient;
  /// buffers[i] are updated. `keys` name the streams that decide what dropout drops.
  void gradient(std::span<const float* const> parameters, std::span<float* const> buffers,
                std::span<const StreamKey> keys, std::span<float* const> gradients,
                std::span<double* const> losses);

  /// Forward in evaluation mode.
  void outputs(std::span<const float* const> parameters, std::span<const float* const> buffers);

  /// Forward in training mode (without dropout), for its statistics only:
  /// buffers[i] = (1 - momentum) buffers[i] + momentum (of this batch).
  void observe(std::span<const float* const> parameters, std::span<float* const> buffers,
               double momentum);

  /// Bytes per sample and peer that such a program allocates.
  static std::size_t bytes_per_sample(const model::Network& network, Use use,
                                      backend::Precision precision);

 private:
  void add_step(const model::Network& network, const Fused& fused);
  void forward(const Call& call);

  std::size_t peers_, batch_;
  backend::cuda::Context& context_;
  std::vector<Tensor> tensors_;  ///< one per value; those fused away have no memory
  std::vector<backend::cuda::Memory<std::byte>> memory_;
  Loss loss_;
  backend::cuda::Memory<std::uint16_t> labels_;
  backend::cuda::Memory<float> numbers_;
  WeightPacker forward_packer_, backward_packer_;
  std::vector<std::unique_ptr<Step>> steps_;
  Tensor* outputs_ = nullptr;
};

}  // namespace hearsay::engine::cuda
