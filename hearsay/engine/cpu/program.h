#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/engine/cpu/step.h"
#include "hearsay/engine/cpu/storage.h"
#include "hearsay/engine/fuse.h"
#include "hearsay/engine/loss.h"
#include "hearsay/model/network.h"

namespace hearsay::engine::cpu {

/// A network compiled for one thread of the CPU and a batch size: layouts, fused steps, one arena.
///
/// A program holds no parameters: every call is given one peer's flat arrays, in the plain layout
/// of Network::layout(). The memory is for one peer at a time, so a process needs one program per
/// thread, not one per peer. The arena is allocated once; a call allocates nothing that grows with
/// the batch. A result depends only on the call's arguments and the contents of `images`.
///
/// Thread safety: none; one call at a time.
class Program {
 public:
  /// Throws InvalidArgument if a value of the network is never read.
  Program(const model::Network& network, std::size_t batch, const Loss& loss = {});

  std::size_t batch() const { return batch_; }
  std::size_t arena_bytes() const { return storage_.bytes(); }  ///< activations and scratch

  /// Where the caller puts the next batch: batch() samples of channel, row, column, as the model
  /// sees them. Every call below reads it and leaves it undefined.
  std::span<float> images() { return {storage_[0].data(), batch_ * storage_[0].shape.size()}; }

  /// The loss of the batch, in training mode; `gradient` is overwritten with its gradient, running
  /// statistics are updated. `key` names the random stream of dropout.
  double gradient(std::span<const float> parameters, std::span<float> buffers,
                  const Targets& targets, const StreamKey& key, std::span<float> gradient);

  /// Forward in evaluation mode; `outputs` receives batch() rows of Network::outputs().
  void outputs(std::span<const float> parameters, std::span<const float> buffers,
               std::span<float> outputs);

  /// Forward in training mode (without dropout), only to update the statistics:
  ///   buffers = (1 - momentum) buffers + momentum (of this batch).
  void observe(std::span<const float> parameters, std::span<float> buffers, double momentum);

 private:
  void lay_out(const model::Network& network);
  Tensor* input_of(const model::Network& network, const model::Operation& operation,
                   model::Value value);
  Tensor* copy_of(Tensor& tensor, std::size_t block);
  void add_step(const model::Network& network, const Fused& fused);
  void append(std::unique_ptr<Step> step, const std::vector<Tensor*>& inputs, const Tensor& output);
  void forward(const Call& call);

  std::size_t batch_;
  Loss loss_;
  Storage storage_;  ///< tensors: one per value of the network, then copies in other layouts
  std::vector<std::unique_ptr<Step>> steps_;
  Tensor* blocked_images_ = nullptr;
  Tensor* outputs_ = nullptr;
};

}  // namespace hearsay::engine::cpu
