#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/engine/cpu/program.h"
#include "hearsay/engine/cpu/step.h"
#include "hearsay/engine/cpu/storage.h"
#include "hearsay/engine/fuse.h"
#include "hearsay/engine/loss.h"
#include "hearsay/model/network.h"

namespace hearsay::engine::cpu {

/// A network in single precision: layouts, fused steps, one arena for the whole batch.
class FloatProgram final : public Program {
 public:
  /// Throws InvalidArgument if a value of the network is never read.
  FloatProgram(const model::Network& network, std::size_t batch, const Loss& loss = {},
               const Lanes& lanes = {});

  std::size_t batch() const override { return batch_; }
  std::size_t arena_bytes() const override { return storage_.bytes(); }

  std::span<float> images() override {
    return {storage_[0].data(), batch_ * storage_[0].shape.size()};
  }
  double gradient(std::span<const float> parameters, std::span<float> buffers,
                  const Targets& targets, const StreamKey& key, std::span<float> gradient) override;
  void outputs(std::span<const float> parameters, std::span<const float> buffers,
               std::span<float> outputs) override;
  void observe(std::span<const float> parameters, std::span<float> buffers,
               double momentum) override;

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
  Lanes lanes_;
  Storage storage_;  ///< tensors: one per value of the network, then copies in other layouts
  std::vector<std::unique_ptr<Step>> steps_;
  Tensor* blocked_images_ = nullptr;
  Tensor* outputs_ = nullptr;
};

}  // namespace hearsay::engine::cpu
