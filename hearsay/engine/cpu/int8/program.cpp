#include "hearsay/engine/cpu/int8/program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "hearsay/engine/check_int8.h"
#include "hearsay/engine/cpu/int8/values.h"
#include "hearsay/engine/cpu/loss.h"

namespace hearsay::engine::cpu::int8 {

namespace {

using model::Network;
using model::Operation;
using model::Value;

bool is_finite(std::span<const float> x) {
  std::uint32_t most = 0;
  for (float entry : x) most = std::max(most, magnitude_bits(entry));
  return most < magnitude_bits(std::numeric_limits<float>::infinity());
}

/// Of the images, if convolutions alone read them, few channels are not padded to 16.
std::size_t channels_in_memory(const Network& network, Value value) {
  const std::size_t channels = network.shape(value).channels;
  const auto& operations = network.operations();
  const bool few =
      value == 0 && channels < 16 && std::ranges::all_of(operations, [](const Operation& op) {
        return op.inputs.empty() || op.inputs[0] != 0 ||
               std::holds_alternative<model::Conv2d>(op.kind);
      });
  return round_up(channels, few ? 4 : 16);
}

/// The most that a convolution pads the value.
std::size_t border_of(const Network& network, Value value) {
  std::size_t border = 0;
  for (const Operation& op : network.operations()) {
    const auto* conv = std::get_if<model::Conv2d>(&op.kind);
    if (conv && op.inputs[0] == value) border = std::max(border, conv->padding);
  }
  return border;
}

}  // namespace

Program::Program(const Network& network, std::size_t batch, const Loss& loss, const Lanes& lanes)
    : batch_(batch),
      width_(network.outputs()),
      loss_(loss),
      lanes_(lanes),
      images_(batch * network.shape(0).size()),
      rows_(kChunk * width_),
      row_gradients_(kChunk * width_) {
  check_int8(network);
  const std::vector<Fused> steps = fuse(network);
  lay_out(network);
  for (const Fused& step : steps) add_step(network, step);
  outputs_ = &storage_[network.operations().size() - 1];
  storage_.place(*outputs_);
}

std::size_t Program::arena_bytes() const {
  std::size_t bytes =
      storage_.bytes() + (images_.size() + rows_.size() + row_gradients_.size()) * sizeof(float);
  for (const auto& step : steps_) bytes += step->bytes();
  return bytes;
}

double Program::gradient(std::span<const float> parameters, std::span<float> /*buffers*/,
                         const Targets& targets, const StreamKey& key, std::span<float> gradient) {
  if (!is_finite(parameters)) {
    std::ranges::fill(gradient, std::numeric_limits<float>::quiet_NaN());
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::ranges::fill(gradient, 0.0f);
  Call call{{.parameters = parameters.data(),
             .gradient = gradient.data(),
             .dropout_keys = &key,
             .training = true}};
  call.key = &key;
  prepare(call, true);
  double loss = 0;
  for (call.first = 0; call.first < batch_; call.first += kChunk) {
    call.count = std::min(kChunk, batch_ - call.first);
    const std::span<const float> outputs = forward(call);
    const Targets of_chunk{
        .labels = targets.labels.empty() ? targets.labels
                                         : targets.labels.subspan(call.first, call.count),
        .numbers = targets.numbers.empty()
                       ? targets.numbers
                       : targets.numbers.subspan(call.first * width_, call.count * width_)};
    loss += batch_loss(loss_, outputs, width_, batch_, of_chunk,
                       std::span(row_gradients_).first(call.count * width_));
    float* dy = outputs_->next_gradient();
    const std::size_t padded = channels_of(*outputs_);
    std::fill_n(dy, call.count * padded, 0.0f);
    for (std::size_t n = 0; n < call.count; ++n) {
      std::copy_n(row_gradients_.data() + n * width_, width_, dy + n * padded);
    }
    for (std::size_t k = steps_.size(); k-- > 0;) {
      for (std::size_t maker : storage_.go_back(k)) steps_[maker]->recompute(call);
      steps_[k]->backward(call, storage_.back_scratch(k));
    }
  }
  return loss;
}

void Program::outputs(std::span<const float> parameters, std::span<const float> /*buffers*/,
                      std::span<float> outputs) {
  if (!is_finite(parameters)) {
    std::ranges::fill(outputs, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  Call call{{.parameters = parameters.data()}};
  prepare(call, false);
  for (call.first = 0; call.first < batch_; call.first += kChunk) {
    call.count = std::min(kChunk, batch_ - call.first);
    std::ranges::copy(forward(call),
                      outputs.begin() + static_cast<std::ptrdiff_t>(call.first * width_));
  }
}

/// Give every value its tensor.
void Program::lay_out(const Network& network) {
  const Value last = network.operations().size() - 1;
  for (Value v = 0; v <= last; ++v) {
    storage_.add(network.shape(v), std::min(batch_, kChunk), channels_in_memory(network, v), v != 0,
                 v == last ? ElementType::kF32 : ElementType::kI8, border_of(network, v));
  }
}

void Program::add_step(const Network& network, const Fused& fused) {
  const Operation& op = network.operations()[fused.operation];
  const Site site{{{.index = fused.operation,
                    .x = &storage_[op.inputs[0]],
                    .y = &storage_[fused.output],
                    .residual = fused.residual ? &storage_[*fused.residual] : nullptr,
                    .relu = fused.relu,
                    .places = places_of(network, op)},
                   lanes_}};
  steps_.push_back(make_step<Step>(op.kind, site));
  std::vector<Tensor*> inputs{site.x};
  if (site.residual) inputs.push_back(site.residual);
  storage_.add_step(inputs, *site.y, steps_.back()->demands());
  if (site.residual) storage_.share_gradient(*site.residual, *site.y);
}

void Program::prepare(const Call& call, bool backward) {
  lanes_.run(steps_.size(),
             [&](std::size_t, std::size_t k) { steps_[k]->prepare(call, backward); });
}

std::span<const float> Program::forward(const Call& call) {
  storage_.go_forward();
  read_images(call);
  for (std::size_t k = 0; k < steps_.size(); ++k) steps_[k]->forward(call, storage_.scratch(k));
  for (std::size_t n = 0; n < call.count; ++n) {
    std::copy_n(outputs_->data() + n * channels_of(*outputs_), width_, rows_.data() + n * width_);
  }
  return {rows_.data(), call.count * width_};
}

/// Q8 of the images, from channel, row, column to pixels.
void Program::read_images(const Call& call) {
  const Tensor& x = storage_[0];
  const std::size_t features = x.shape.size(), channels = channels_of(x);
  for_each_sample(lanes_, call, features, [&](std::size_t, std::size_t n) {
    const float* image = images_.data() + (call.first + n) * features;
    std::uint32_t most = 0;
    for (std::size_t j = 0; j < features; ++j) most = std::max(most, magnitude_bits(image[j]));
    const float m = std::bit_cast<float>(most), factor = factor_of(m, kTop8);
    x.scales[n] = scale_of(m, 1, kTop8);
    std::fill_n(codes_of(x, n), x.grid().pixels() * channels, std::int8_t{0});
    const Image<std::int8_t> to = image_of(x, n);
    for (std::size_t c = 0; c < x.shape.channels; ++c) {
      for (std::size_t row = 0; row < x.shape.height; ++row) {
        for (std::size_t column = 0; column < x.shape.width; ++column) {
          to.data[row * to.pitch + column * channels + c] = code8(*image++, factor);
        }
      }
    }
  });
}

}  // namespace hearsay::engine::cpu::int8
