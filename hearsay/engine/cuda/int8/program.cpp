#include "hearsay/engine/cuda/int8/program.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/engine/check_int8.h"
#include "hearsay/engine/cuda/int8/images.h"

namespace hearsay::engine::cuda::int8 {

using model::Network;

Program::Program(const Network& network, std::size_t peers, std::size_t batch, Use use,
                 backend::cuda::Context& context, const Loss& loss)
    : cuda::Program(network, peers, batch, context, loss), weights_(peers, network.layout().dim()) {
  check_int8(network);
  const bool training = use == Use::kTraining;
  const model::Value last = network.operations().size() - 1;
  for (const model::Operation& operation : network.operations()) {
    tensors_.push_back({.shape = operation.shape, .peers = peers, .batch = batch});
    if (tensors_.back().size() > std::numeric_limits<std::int32_t>::max()) {
      throw InvalidArgument(fmt::format(
          "[batch] {} peers x {} samples are too many for the GPU at once: {} makes {} values, at "
          "most 2^31 - 1 fit; use a smaller batch or fewer peers",
          peers, batch, operation.name, tensors_.back().size()));
    }
  }
  images_ = {.shape = network.shape(0), .peers = peers, .batch = batch};
  images_.data = allocate<float>(images_.size());
  outputs_ = {.shape = network.shape(last), .peers = peers, .batch = batch};
  outputs_.data = allocate<float>(outputs_.size());
  if (training) outputs_.gradient = allocate<float>(outputs_.size());
  const auto allocate_codes = [&](Tensor& tensor) {
    tensor.codes = allocate<std::int8_t>(tensor.size());
    tensor.scales = allocate<float>(tensor.samples());
  };
  allocate_codes(tensors_.front());
  const std::vector<Fused> steps = fuse(network);
  for (const Fused& step : steps) {
    if (step.output != last) allocate_codes(tensors_[step.output]);
  }
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (k + 1 < steps.size() && add_conv_norm(network, steps[k], steps[k + 1], training)) {
      ++k;  // what is between has no gradient in device memory
    } else {
      const model::Operation& operation = network.operations()[steps[k].operation];
      steps_.push_back(make_step<Step>(operation.kind, site_of(network, steps[k], training)));
    }
    Tensor& made = tensors_[steps[k].output];
    if (training) made.gradient = allocate<float>(made.size());
  }
}

template <class T>
T* Program::allocate(std::size_t count) {
  return reinterpret_cast<T*>(memory_.emplace_back(count * sizeof(T)).data());
}

Site Program::site_of(const Network& network, const Fused& fused, bool training) {
  const model::Operation& operation = network.operations()[fused.operation];
  Site site;
  site.index = fused.operation;
  site.x = &tensors_[operation.inputs[0]];
  site.y = &tensors_[fused.output];
  site.residual = fused.residual ? &tensors_[*fused.residual] : nullptr;
  site.relu = fused.relu;
  site.places = places_of(network, operation);
  if (fused.output + 1 == tensors_.size()) site.outputs = static_cast<float*>(outputs_.data);
  site.processors = context_.processors;
  site.shared_bytes = context_.shared_bytes;
  site.training = training;
  site.weights = &weights_;
  site.sums = &sums_;
  return site;
}

bool Program::add_conv_norm(const Network& network, const Fused& first, const Fused& second,
                            bool training) {
  const auto& operations = network.operations();
  const auto* conv = std::get_if<model::Conv2d>(&operations[first.operation].kind);
  const auto* norm = std::get_if<model::RangeEvoNorm>(&operations[second.operation].kind);
  if (conv == nullptr || norm == nullptr || conv->bias || first.relu) return false;
  for (const model::Operation& reader : operations) {
    const bool reads = std::ranges::count(reader.inputs, first.output) > 0;
    if (reads != (&reader == &operations[second.operation])) return false;
  }
  auto step = make_conv_norm(*conv, site_of(network, first, training), *norm,
                             site_of(network, second, training));
  if (step == nullptr) return false;
  steps_.push_back(std::move(step));
  return true;
}

void Program::forward(const Call& call) {
  weights_.pack(context_.recorder, call);
  quantize_images(context_.recorder, static_cast<const float*>(images_.data), tensors_.front());
  for (const auto& step : steps_) step->forward(context_.recorder, call);
}

void Program::gradient(std::span<const float* const> parameters, std::span<float* const> buffers,
                       std::span<const StreamKey> keys, std::span<float* const> gradients,
                       std::span<double* const> losses) {
  backend::cuda::LaunchRecorder& recorder = context_.recorder;
  const Call call{.parameters = recorder.put(parameters),
                  .new_buffers = recorder.put(buffers),
                  .gradient = recorder.put(gradients),
                  .dropout_keys = recorder.put(keys),
                  .training = true};
  forward(call);
  for (Tensor& tensor : tensors_) tensor.contributions = 0;
  differentiate_loss(outputs_, losses);
  pad_outputs(recorder, static_cast<const float*>(outputs_.gradient), tensors_.back());
  for (std::size_t k = steps_.size(); k-- > 0;) steps_[k]->backward(recorder, call);
  sums_.collect(recorder, call, peers());
}

void Program::outputs(std::span<const float* const> parameters,
                      std::span<const float* const> buffers) {
  forward(
      {.parameters = context_.recorder.put(parameters), .buffers = context_.recorder.put(buffers)});
}

std::size_t Program::bytes_per_sample(const Network& network, Use use) {
  std::size_t bytes = network.shape(network.input()).size() * sizeof(float);
  for (const Fused& step : fuse(network)) {
    const model::Shape& shape = network.shape(step.output);
    // A code; in training its gradient in floats and as 16 bits.
    bytes += shape.pixels() * padded(shape.channels) * (use == Use::kTraining ? 7 : 1);
  }
  return bytes;
}

}  // namespace hearsay::engine::cuda::int8
