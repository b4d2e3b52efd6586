#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hearsay/backend/cuda/context.h"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/tensor.h"
#include "hearsay/engine/loss.h"
#include "hearsay/engine/stream_key.h"
#include "hearsay/model/network.h"

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

  virtual ~Program() = default;

  std::size_t peers() const { return peers_; }
  std::size_t batch() const { return batch_; }

  /// Where the next batch is put: its images, and per sample one label or, if the loss is of
  /// numbers, one for each output. Calls below read them.
  virtual const Tensor& images() const = 0;
  std::uint16_t* labels() const { return labels_.data(); }
  float* numbers() const { return numbers_.data(); }
  /// What the call `outputs` computed.
  virtual const Tensor& outputs() const = 0;

  /// *losses[i] = the loss of peer i's samples in training mode, gradients[i] its gradient;
  /// buffers[i] are updated. `keys` name the random streams of dropout and of rounding.
  virtual void gradient(std::span<const float* const> parameters, std::span<float* const> buffers,
                        std::span<const StreamKey> keys, std::span<float* const> gradients,
                        std::span<double* const> losses) = 0;

  /// Forward in evaluation mode.
  virtual void outputs(std::span<const float* const> parameters,
                       std::span<const float* const> buffers) = 0;

  /// Forward in training mode (without dropout), for its statistics only:
  /// buffers[i] = (1 - momentum) buffers[i] + momentum (of this batch).
  virtual void observe(std::span<const float* const> parameters, std::span<float* const> buffers,
                       double momentum) = 0;

 protected:
  Program(const model::Network& network, std::size_t peers, std::size_t batch,
          backend::cuda::Context& context, const Loss& loss);

  /// The losses of the peers' samples, and their gradient with respect to the outputs.
  void differentiate_loss(Tensor& outputs, std::span<double* const> losses);

  std::size_t peers_, batch_;
  backend::cuda::Context& context_;

 private:
  Loss loss_;
  backend::cuda::Memory<std::uint16_t> labels_;
  backend::cuda::Memory<float> numbers_;
};

/// In the context's precision. Throws InvalidArgument: a value of the network is not read or has
/// 2^31 entries, or 8 bits cannot train it.
std::unique_ptr<Program> make_program(const model::Network& network, std::size_t peers,
                                      std::size_t batch, Program::Use use,
                                      backend::cuda::Context& context, const Loss& loss = {});

/// Bytes per sample and peer that such a program allocates.
std::size_t bytes_per_sample(const model::Network& network, Program::Use use,
                             backend::Precision precision);

}  // namespace hearsay::engine::cuda
