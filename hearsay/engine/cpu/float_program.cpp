#include "hearsay/engine/cpu/float_program.h"

#include <algorithm>
#include <cassert>

#include "hearsay/engine/cpu/loss.h"
#include "hearsay/engine/cpu/onednn.h"

namespace hearsay::engine::cpu {

namespace {

using model::Network;
using model::Operation;
using model::Value;

template <class... Kinds>
bool is_one_of(const Operation& operation) {
  return (std::holds_alternative<Kinds>(operation.kind) || ...);
}

}  // namespace

FloatProgram::FloatProgram(const Network& network, std::size_t batch, const Loss& loss,
                           const Lanes& lanes)
    : batch_(batch), loss_(loss), lanes_(lanes) {
  assert(batch > 0);
  const OneThread one_thread;
  const std::vector<Fused> steps = fuse(network);
  lay_out(network);
  for (const Fused& step : steps) add_step(network, step);
  outputs_ = &storage_[network.operations().size() - 1];
  assert(outputs_->shape.pixels() == 1);
  if (outputs_->tiles.block != outputs_->shape.channels) {
    outputs_ = copy_of(*outputs_, outputs_->shape.channels);
  }
  storage_.place(*outputs_);
}

double FloatProgram::gradient(std::span<const float> parameters, std::span<float> buffers,
                              const Targets& targets, const StreamKey& key,
                              std::span<float> gradient) {
  const OneThread one_thread;
  const Call call{.parameters = parameters.data(),
                  .buffers = buffers.data(),
                  .new_buffers = buffers.data(),
                  .gradient = gradient.data(),
                  .momentum = model::BatchNorm::kMomentum,
                  .dropout_keys = &key,
                  .training = true};
  forward(call);
  const std::size_t count = batch_ * outputs_->shape.size();
  const double loss = batch_loss(loss_, {outputs_->data(), count}, outputs_->shape.size(), batch_,
                                 targets, {outputs_->next_gradient(), count});
  for (std::size_t k = steps_.size(); k-- > 0;) {
    for (std::size_t maker : storage_.go_back(k)) steps_[maker]->recompute();
    steps_[k]->backward(call, storage_.back_scratch(k));
  }
  return loss;
}

void FloatProgram::outputs(std::span<const float> parameters, std::span<const float> buffers,
                           std::span<float> outputs) {
  const OneThread one_thread;
  forward({.parameters = parameters.data(), .buffers = buffers.data()});
  std::copy_n(outputs_->data(), outputs.size(), outputs.data());
}

void FloatProgram::observe(std::span<const float> parameters, std::span<float> buffers,
                           double momentum) {
  const OneThread one_thread;
  forward({.parameters = parameters.data(),
           .buffers = buffers.data(),
           .new_buffers = buffers.data(),
           .momentum = momentum,
           .training = true});
}

/// Give every value its tensor. Images and vectors are plain; all others use oneDNN's blocked
/// layout.
void FloatProgram::lay_out(const Network& network) {
  const auto& operations = network.operations();
  for (Value v = 0; v < operations.size(); ++v) {
    const Operation& op = operations[v];
    std::size_t block = preferred_block();
    if (v == 0) {
      block = 1;
    } else if (is_one_of<model::Linear, model::Flatten, model::GlobalAveragePool>(op)) {
      block = op.shape.channels;
    } else if (!is_one_of<model::Conv2d>(op) && op.inputs[0] != 0) {
      block = storage_[op.inputs[0]].tiles.block;
    }
    storage_.add(op.shape, batch_, block, v != 0);
  }
}

/// The tensor that an operation reads for `value`, copied into another layout if it needs one.
Tensor* FloatProgram::input_of(const Network& network, const Operation& op, Value value) {
  Tensor& tensor = storage_[value];
  if (is_one_of<model::Linear>(op)) {
    const auto& tiles = tensor.tiles;
    const bool plain = tiles.pixels == 1 && tiles.padded_channels() == tiles.channels;
    return plain ? &tensor : copy_of(tensor, tensor.shape.channels);
  }
  constexpr std::size_t kFewChannels = 3;  // oneDNN reads so few channels best from plain images
  const bool plain_is_fine =
      is_one_of<model::Flatten, model::GlobalAveragePool>(op) ||
      (is_one_of<model::Conv2d>(op) && network.shape(0).channels <= kFewChannels);
  if (value != 0 || plain_is_fine) return &tensor;
  if (blocked_images_ == nullptr) blocked_images_ = copy_of(tensor, preferred_block());
  return blocked_images_;
}

/// A tensor with the same values in another layout, and the step that fills it.
Tensor* FloatProgram::copy_of(Tensor& tensor, std::size_t block) {
  Tensor& copy = storage_.add(tensor.shape, batch_, block, tensor.number != 0);
  append(make_copy({{.x = &tensor, .y = &copy}, lanes_}), {&tensor}, copy);
  return &copy;
}

void FloatProgram::add_step(const Network& network, const Fused& fused) {
  const Operation& op = network.operations()[fused.operation];
  Site site{{.index = fused.operation,
             .x = input_of(network, op, op.inputs[0]),
             .y = &storage_[fused.output],
             .residual = fused.residual ? input_of(network, op, *fused.residual) : nullptr,
             .relu = fused.relu,
             .places = places_of(network, op)},
            lanes_};
  if (site.residual) {  // terms of a sum must have the same layout
    for (Tensor** term : {&site.x, &site.residual}) {
      const std::size_t block = site.y->tiles.block;
      if ((*term)->tiles.block != block) *term = copy_of(**term, block);
    }
  }
  std::vector<Tensor*> inputs{site.x};
  if (site.residual) inputs.push_back(site.residual);
  append(make_step<Step>(op.kind, site), inputs, *site.y);
  if (site.residual) storage_.share_gradient(*site.residual, *site.y);
}

void FloatProgram::append(std::unique_ptr<Step> step, const std::vector<Tensor*>& inputs,
                          const Tensor& output) {
  storage_.add_step(inputs, output, step->demands());
  steps_.push_back(std::move(step));
}

void FloatProgram::forward(const Call& call) {
  storage_.go_forward();
  for (std::size_t k = 0; k < steps_.size(); ++k) steps_[k]->forward(call, storage_.scratch(k));
}

}  // namespace hearsay::engine::cpu
