#include "hearsay/engine/cuda/step.h"

namespace hearsay::engine::cuda {

namespace {

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
  Made operator()(const model::RangeEvoNorm& norm) const { return make_range_evo_norm(norm, site); }
  Made operator()(const model::Relu&) const { return make_relu(site); }
  Made operator()(const model::HardSigmoid&) const { return make_hard_sigmoid(site); }
  Made operator()(const model::Gelu&) const { return make_gelu(site); }
  Made operator()(const model::Add&) const { return make_add(site); }
  Made operator()(const model::Shortcut&) const { return make_shortcut(site); }
  Made operator()(const model::MaxPool& pool) const { return make_max_pool(pool, site); }
  Made operator()(const model::AveragePool& pool) const { return make_average_pool(pool, site); }
  Made operator()(const model::GlobalAveragePool&) const { return make_global_average_pool(site); }
  Made operator()(const model::Dropout& dropout) const { return make_dropout(dropout, site); }
  Made operator()(const model::Flatten&) const { return make_flatten(site); }
};

}  // namespace

std::unique_ptr<Step> make_step(const model::Kind& kind, const Site& site) {
  return std::visit(Maker{site}, kind);
}

}  // namespace hearsay::engine::cuda
