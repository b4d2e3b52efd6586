#include "hearsay/engine/cpu/onednn.h"
#include "hearsay/engine/cpu/step.h"

namespace hearsay::engine::cpu {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Forward = dnnl::inner_product_forward;
using BackwardData = dnnl::inner_product_backward_data;
using BackwardWeights = dnnl::inner_product_backward_weights;

/// Everything is in the plain layout, so parameters and gradients are used in place.
class LinearStep final : public Step {
 public:
  LinearStep(const model::Linear& linear, const Site& site)
      : site_(site), bias_(linear.bias), stream_(device()) {
    const auto samples = dim(site.x->tiles.samples);
    const auto in = dim(site.x->shape.channels), out = dim(linear.out);
    const auto x = plain_desc({samples, in}, Tag::nc), y = plain_desc({samples, out}, Tag::nc);
    const auto w = plain_desc({out, in}, Tag::oi);
    const auto b = linear.bias ? plain_desc({out}, Tag::x) : memory::desc();
    x_ = unbound(x);
    y_ = unbound(y);
    weights_ = unbound(w);
    bias_memory_ = unbound(b);

    const auto kind = dnnl::prop_kind::forward_training;
    const Forward::primitive_desc forward(
        linear.bias ? Forward::desc(kind, x, w, b, y) : Forward::desc(kind, x, w, y),
        caller_scratchpad(), device());
    const BackwardWeights::primitive_desc weights(
        linear.bias ? BackwardWeights::desc(x, w, b, y) : BackwardWeights::desc(x, w, y),
        caller_scratchpad(), device(), forward);
    const BackwardData::primitive_desc data(BackwardData::desc(x, w, y), caller_scratchpad(),
                                            device(), forward);
    forward_ = Forward(forward);
    weights_backward_ = BackwardWeights(weights);
    data_backward_ = BackwardData(data);
    forward_pad_ = unbound(forward.scratchpad_desc());
    weights_pad_ = unbound(weights.scratchpad_desc());
    data_pad_ = unbound(data.scratchpad_desc());
  }

  Demands demands() const override {
    return {.input_in_backward = true,
            .output_in_backward = site_.relu,
            .scratch_bytes =
                std::max({forward_pad_.get_desc().get_size(), weights_pad_.get_desc().get_size(),
                          data_pad_.get_desc().get_size()})};
  }

  void forward(const Call& call, std::byte* scratch) override {
    bind_memory(x_, site_.x->data());
    bind_memory(y_, site_.y->data());
    bind_memory(weights_, call.parameters + site_.places.parameter[0]);
    if (bias_) bind_memory(bias_memory_, call.parameters + site_.places.parameter[1]);
    bind_memory(forward_pad_, scratch);
    forward_.execute(stream_, {{DNNL_ARG_SRC, x_},
                               {DNNL_ARG_WEIGHTS, weights_},
                               {DNNL_ARG_BIAS, bias_memory_},
                               {DNNL_ARG_DST, y_},
                               {DNNL_ARG_SCRATCHPAD, forward_pad_}});
    if (site_.relu) backend::cpu::relu(site_.y->data(), site_.y->data(), site_.y->tiles.size());
  }

  void backward(const Call& call, std::byte* scratch) override {
    float* dy = site_.y->collect();
    if (site_.relu) backend::cpu::relu_backward(site_.y->data(), dy, site_.y->tiles.size());
    bind_memory(x_, site_.x->data());
    bind_memory(y_, dy);
    bind_memory(weights_, call.gradient + site_.places.parameter[0]);
    if (bias_) bind_memory(bias_memory_, call.gradient + site_.places.parameter[1]);
    bind_memory(weights_pad_, scratch);
    weights_backward_.execute(stream_, {{DNNL_ARG_SRC, x_},
                                        {DNNL_ARG_DIFF_DST, y_},
                                        {DNNL_ARG_DIFF_WEIGHTS, weights_},
                                        {DNNL_ARG_DIFF_BIAS, bias_memory_},
                                        {DNNL_ARG_SCRATCHPAD, weights_pad_}});
    if (!site_.x->wants_gradient()) return;
    bind_memory(x_, site_.x->next_gradient());
    bind_memory(weights_, call.parameters + site_.places.parameter[0]);
    bind_memory(data_pad_, scratch);
    data_backward_.execute(stream_, {{DNNL_ARG_DIFF_DST, y_},
                                     {DNNL_ARG_WEIGHTS, weights_},
                                     {DNNL_ARG_DIFF_SRC, x_},
                                     {DNNL_ARG_SCRATCHPAD, data_pad_}});
  }

 private:
  Site site_;
  bool bias_;
  dnnl::stream stream_;
  Forward forward_;
  BackwardWeights weights_backward_;
  BackwardData data_backward_;
  memory x_, y_, weights_, bias_memory_, forward_pad_, weights_pad_, data_pad_;
};

}  // namespace

std::unique_ptr<Step> make_linear(const model::Linear& linear, const Site& site) {
  return std::make_unique<LinearStep>(linear, site);
}

}  // namespace hearsay::engine::cpu
