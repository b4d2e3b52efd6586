#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hearsay/engine/stream_key.h"
#include "hearsay/model/network.h"

/// Common to the steps of all devices: how they are constructed and called. A step is one operation
/// of a network, forward and backward: cpu/step.h and cuda/step.h.
namespace hearsay::engine {

/// The offsets of an operation's parameters and buffers in a model's flat arrays.
struct Places {
  std::size_t parameter[3] = {0, 0, 0};
  std::size_t buffer[2] = {0, 0};
};
inline Places places_of(const model::Network& network, const model::Operation& operation) {
  Places places;
  for (std::size_t k = 0; k < operation.parameters.size(); ++k) {
    places.parameter[k] = network.layout().segments()[operation.parameters[k]].offset;
  }
  for (std::size_t k = 0; k < operation.buffers.size(); ++k) {
    places.buffer[k] = network.buffers().segments()[operation.buffers[k]].offset;
  }
  return places;
}

/// The arguments to construct the step of one operation: the device's tensors it reads and writes.
template <class Tensor>
struct BasicSite {
  std::uint64_t index = 0;  ///< of the operation, for its random numbers
  Tensor* x = nullptr;
  Tensor* y = nullptr;
  Tensor* residual = nullptr;  ///< added to the output before `relu`
  bool relu = false;           ///< applied to the output last
  Places places{};
};

/// The arguments of the steps in one forward or backward pass: the arrays of the peers.
///
/// A device defines `Rows<T>`, by which a step finds the array of a peer (one address if it
/// computes one peer at a time), and `Momentum`, the type of a number that all peers share.
template <class Device>
struct BasicCall {
  template <class T>
  using Rows = typename Device::template Rows<T>;

  Rows<const float> parameters{};
  Rows<const float> buffers{};              ///< read in evaluation
  Rows<float> new_buffers{};                ///< updated in training
  Rows<float> gradient{};                   ///< every entry is written
  typename Device::Momentum momentum{};     ///< of running statistics
  const StreamKey* dropout_keys = nullptr;  ///< one per peer; null: nothing is dropped
  bool training = false;
};

/// Makes the step of an operation of that kind by calling the device's function for it:
/// make_conv2d(const model::Conv2d&, const Site&), make_relu(const Site&), and so on, in the
/// namespace of `Site`.
template <class Step, class Site>
std::unique_ptr<Step> make_step(const model::Kind& kind, const Site& site) {
  struct Maker {
    using Made = std::unique_ptr<Step>;
    const Site& site;

    Made operator()(const model::Input&) const { return nullptr; }
    Made operator()(const model::Conv2d& conv) const { return make_conv2d(conv, site); }
    Made operator()(const model::Linear& linear) const { return make_linear(linear, site); }
    Made operator()(const model::BatchNorm&) const { return make_batch_norm(site); }
    Made operator()(const model::GroupNorm& norm) const { return make_group_norm(norm, site); }
    Made operator()(const model::LayerNorm&) const { return make_layer_norm(site); }
    Made operator()(const model::EvoNorm& norm) const { return make_evo_norm(norm, site); }
    Made operator()(const model::RangeEvoNorm& norm) const {
      return make_range_evo_norm(norm, site);
    }
    Made operator()(const model::Relu&) const { return make_relu(site); }
    Made operator()(const model::Gelu&) const { return make_gelu(site); }
    Made operator()(const model::Add&) const { return make_add(site); }
    Made operator()(const model::Shortcut&) const { return make_shortcut(site); }
    Made operator()(const model::MaxPool& pool) const { return make_max_pool(pool, site); }
    Made operator()(const model::GlobalAveragePool&) const {
      return make_global_average_pool(site);
    }
    Made operator()(const model::Dropout& dropout) const { return make_dropout(dropout, site); }
    Made operator()(const model::Flatten&) const { return make_flatten(site); }
  };
  return std::visit(Maker{site}, kind);
}

}  // namespace hearsay::engine
