#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hearsay/engine/cpu/int8/step.h"
#include "hearsay/engine/cpu/program.h"
#include "hearsay/engine/cpu/storage.h"
#include "hearsay/engine/fuse.h"
#include "hearsay/engine/loss.h"
#include "hearsay/model/network.h"

namespace hearsay::engine::cpu::int8 {

/// A network in 8 bits.
///
/// Models stay f32: every call quantizes the parameters that it is given. A chunk of kChunk samples
/// at a time goes through the whole network, forward and back, so the arena is that of a chunk,
/// whatever the batch. A parameter that is not finite makes the loss NaN; codes would hide it.
class Program final : public cpu::Program {
 public:
  /// Throws InvalidArgument: check_int8, and if a value of the network is never read.
  Program(const model::Network& network, std::size_t batch, const Loss& loss = {},
          const Lanes& lanes = {});

  std::size_t batch() const override { return batch_; }
  /// Activations, scratch, codes of weights and the images.
  std::size_t arena_bytes() const override;

  std::span<float> images() override { return images_; }
  double gradient(std::span<const float> parameters, std::span<float> buffers,
                  const Targets& targets, const StreamKey& key, std::span<float> gradient) override;
  void outputs(std::span<const float> parameters, std::span<const float> buffers,
               std::span<float> outputs) override;
  /// These networks have no running statistics.
  void observe(std::span<const float>, std::span<float>, double) override {}

 private:
  void lay_out(const model::Network& network);
  void add_step(const model::Network& network, const Fused& fused);
  void prepare(const Call& call, bool backward);
  /// Reads the chunk's images and computes its outputs: call.count dense rows.
  std::span<const float> forward(const Call& call);
  void read_images(const Call& call);

  std::size_t batch_, width_;  ///< samples, outputs of a sample
  Loss loss_;
  Lanes lanes_;
  Storage storage_;
  std::vector<std::unique_ptr<Step>> steps_;
  Tensor* outputs_ = nullptr;
  std::vector<float> images_, rows_, row_gradients_;
};

}  // namespace hearsay::engine::cpu::int8
