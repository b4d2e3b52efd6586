#include "hearsay/engine/cuda/float_program.h"

#include <cassert>
#include <limits>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/engine/cuda/cross_entropy.h"
#include "hearsay/engine/cuda/number_loss.h"
#include "hearsay/engine/gradient_owners.h"

namespace hearsay::engine::cuda {

namespace {

using backend::Precision;
using backend::cuda::Context;
using backend::cuda::Memory;
using model::Network;

}  // namespace

FloatProgram::FloatProgram(const Network& network, std::size_t peers, std::size_t batch, Use use,
                           Context& context, const Loss& loss)
    : Program(network, peers, batch, context, loss),
      forward_packer_(context.precision),
      backward_packer_(context.precision) {
  assert(peers > 0 && batch > 0);
  for (const model::Operation& operation : network.operations()) {
    tensors_.push_back({.shape = operation.shape,
                        .peers = peers,
                        .batch = batch,
                        .type = storage_type(context.precision)});
    if (tensors_.back().size() > std::numeric_limits<std::int32_t>::max()) {
      throw InvalidArgument(fmt::format(
          "[batch] {} peers x {} samples are too many for the GPU at once: {} makes {} values, at "
          "most 2^31 - 1 fit; use a smaller batch or fewer peers",
          peers, batch, operation.name, tensors_.back().size()));
    }
  }
  const auto allocate = [&](std::size_t bytes) {
    return static_cast<void*>(memory_.emplace_back(bytes).data());
  };
  const auto allocate_values = [&](Tensor& tensor) {
    tensor.data = allocate(tensor.bytes());
    if (!is_quantized(tensor.type)) return;
    tensor.scales = static_cast<float*>(allocate(peers * batch * sizeof(float)));
  };
  allocate_values(tensors_.front());
  const std::vector<Fused> steps = fuse(network);
  if (use == Use::kTraining) {
    const std::vector<model::Value> owners = gradient_owners(network, steps);
    for (std::size_t k = steps.size();
         k-- > 0;) {  // an owner is made after those it has memory for
      const model::Value made = steps[k].output, owner = owners[made];
      tensors_[made].gradient =
          owner == made ? allocate(tensors_[made].bytes()) : tensors_[owner].gradient;
    }
  }
  for (const Fused& step : steps) {
    allocate_values(tensors_[step.output]);
    add_step(network, step);
  }
  outputs_ = &tensors_.back();
}

void FloatProgram::add_step(const Network& network, const Fused& fused) {
  const model::Operation& operation = network.operations()[fused.operation];
  Site site;
  site.index = fused.operation;
  site.x = &tensors_[operation.inputs[0]];
  site.y = &tensors_[fused.output];
  site.residual = fused.residual ? &tensors_[*fused.residual] : nullptr;
  site.relu = fused.relu;
  site.places = places_of(network, operation);
  site.precision = context_.precision;
  site.processors = context_.processors;
  site.shared_bytes = context_.shared_bytes;
  site.has_tma = context_.has_tma;
  site.forward_packer = &forward_packer_;
  site.backward_packer = &backward_packer_;
  ++site.x->readers;
  if (site.residual != nullptr) ++site.residual->readers;
  steps_.push_back(make_step<Step>(operation.kind, site));
}

void FloatProgram::forward(const Call& call) {
  forward_packer_.pack(context_.recorder, call, peers_);
  for (const auto& step : steps_) step->forward(context_.recorder, call);
}

void FloatProgram::gradient(std::span<const float* const> parameters,
                            std::span<float* const> buffers, std::span<const StreamKey> keys,
                            std::span<float* const> gradients, std::span<double* const> losses) {
  assert(outputs_->wants_gradient());
  backend::cuda::LaunchRecorder& recorder = context_.recorder;
  const Call call{.parameters = recorder.put(parameters),
                  .new_buffers = recorder.put(buffers),
                  .gradient = recorder.put(gradients),
                  .momentum = recorder.put(static_cast<float>(model::BatchNorm::kMomentum)),
                  .dropout_keys = recorder.put(keys),
                  .training = true};
  constexpr int kSide = 1;  // weights for backward are packed while forward runs
  recorder.fork(kSide);
  recorder.use(kSide);
  backward_packer_.pack(recorder, call, peers_);
  recorder.use(0);
  forward(call);
  recorder.join(kSide);
  for (Tensor& tensor : tensors_) {
    tensor.contributions = 0;
    tensor.gradient_sums = {};
    tensor.masked = false;
  }
  differentiate_loss(*outputs_, losses);
  for (std::size_t k = steps_.size(); k-- > 0;) steps_[k]->backward(recorder, call);
}

void FloatProgram::outputs(std::span<const float* const> parameters,
                           std::span<const float* const> buffers) {
  forward(
      {.parameters = context_.recorder.put(parameters), .buffers = context_.recorder.put(buffers)});
}

void FloatProgram::observe(std::span<const float* const> parameters,
                           std::span<float* const> buffers, double momentum) {
  forward({.parameters = context_.recorder.put(parameters),
           .new_buffers = context_.recorder.put(buffers),
           .momentum = context_.recorder.put(static_cast<float>(momentum)),
           .training = true});
}

std::size_t FloatProgram::bytes_per_sample(const Network& network, Use use, Precision precision) {
  const std::vector<Fused> steps = fuse(network);
  const std::vector<model::Value> owners = gradient_owners(network, steps);
  std::size_t entries = network.shape(network.input()).size();
  for (const Fused& step : steps) {
    const bool has_gradient = use == Use::kTraining && owners[step.output] == step.output;
    entries += (has_gradient ? 2 : 1) * network.shape(step.output).size();
  }
  return entries * size_of(storage_type(precision));
}

}  // namespace hearsay::engine::cuda
