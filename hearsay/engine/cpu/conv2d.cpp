#include <optional>

#include "hearsay/engine/cpu/onednn.h"
#include "hearsay/engine/cpu/step.h"

namespace hearsay::engine::cpu {

namespace {

using dnnl::algorithm;
using dnnl::memory;
using Tag = memory::format_tag;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

/// Parameters in the plain layout against the blocked one that a primitive wants: reordered, or
/// used where they lie if the two are the same.
class Weights {
 public:
  Weights() = default;
  Weights(const memory::desc& plain, const memory::desc& blocked, bool to_plain)
      : plain_(unbound(plain)), blocked_(unbound(blocked)), same_(plain == blocked) {
    if (same_) return;
    const auto from = to_plain ? blocked : plain;
    const auto to = to_plain ? plain : blocked;
    reorder_ = dnnl::reorder(
        dnnl::reorder::primitive_desc(device(), from, device(), to, caller_scratchpad()));
  }

  std::size_t bytes() const { return same_ ? 0 : blocked_.get_desc().get_size(); }
  memory& blocked() { return blocked_; }

  /// Point `blocked` at `room`, or at the parameters if no reorder is needed.
  void bind_to(const float* parameters, float* room) {
    bind(plain_, parameters);
    bind(blocked_, same_ ? parameters : room);
  }
  void pack(dnnl::stream& stream) {
    if (!same_) reorder_.execute(stream, plain_, blocked_);
  }
  void unpack(dnnl::stream& stream) {
    if (!same_) reorder_.execute(stream, blocked_, plain_);
  }

 private:
  memory plain_, blocked_;
  dnnl::reorder reorder_;
  bool same_ = true;
};

/// The descriptor that `make` gives for Winograd's form if wanted and there, else for the direct
/// one.
template <class Make>
auto choose(bool winograd, const Make& make) {
  if (winograd && has_avx512()) {
    try {
      return make(algorithm::convolution_winograd);
    } catch (const dnnl::error&) {
      // Not for this shape; the direct form is there for every one.
    }
  }
  return make(algorithm::convolution_direct);
}

class Conv2dStep final : public Step {
 public:
  Conv2dStep(const model::Conv2d& conv, const Site& site)
      : site_(site),
        bias_(conv.bias),
        x_desc_(describe(*site.x)),
        y_desc_(describe(*site.y)),
        x_(unbound(x_desc_)),
        y_(unbound(y_desc_)),
        stream_(device()) {
    const std::size_t in = site.x->shape.channels;
    memory::dims dims{dim(conv.out), dim(in / conv.groups), dim(conv.kernel), dim(conv.kernel)};
    Tag plain = Tag::oihw;
    if (conv.groups > 1) {
      dims = {dim(conv.groups), dim(conv.out / conv.groups), dim(in / conv.groups),
              dim(conv.kernel), dim(conv.kernel)};
      plain = Tag::goihw;
    }
    const memory::dims strides(2, dim(conv.stride)), padding(2, dim(conv.padding));
    const auto weights_plain = plain_desc(dims, plain);
    const auto weights_any = plain_desc(dims, Tag::any);
    const auto bias_desc = conv.bias ? plain_desc({dim(conv.out)}, Tag::x) : memory::desc();
    bias_memory_ = unbound(bias_desc);

    const bool winograd_fits = conv.kernel == 3 && conv.stride == 1 && conv.groups == 1;
    const std::size_t channels = std::min(in, conv.out);
    const auto forward_desc = [&](algorithm how) {
      return conv.bias ? Forward::desc(dnnl::prop_kind::forward_training, how, x_desc_, weights_any,
                                       bias_desc, y_desc_, strides, padding, padding)
                       : Forward::desc(dnnl::prop_kind::forward_training, how, x_desc_, weights_any,
                                       y_desc_, strides, padding, padding);
    };
    auto forward_attr = caller_scratchpad();
    if (site.relu) {
      dnnl::post_ops after;
      after.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
      forward_attr.set_post_ops(after);
    }
    const auto forward_pd = [&](algorithm how) {
      return Forward::primitive_desc(forward_desc(how), forward_attr, device());
    };
    // A hint for the way back: without post-ops, of the same algorithm.
    const auto hint = [&](algorithm how) {
      return Forward::primitive_desc(forward_desc(how), caller_scratchpad(), device());
    };

    {
      const auto pd = choose(winograd_fits && channels >= kWinogradForward, forward_pd);
      forward_ = Forward(pd);
      forward_weights_ = Weights(weights_plain, pd.weights_desc(), false);
      forward_pad_ = unbound(pd.scratchpad_desc());
    }
    {
      const auto pd = choose(winograd_fits && channels >= kWinogradWeights, [&](algorithm how) {
        const auto desc = conv.bias ? BackwardWeights::desc(how, x_desc_, weights_any, bias_desc,
                                                            y_desc_, strides, padding, padding)
                                    : BackwardWeights::desc(how, x_desc_, weights_any, y_desc_,
                                                            strides, padding, padding);
        return BackwardWeights::primitive_desc(desc, caller_scratchpad(), device(), hint(how));
      });
      weights_backward_ = BackwardWeights(pd);
      weights_gradient_ = Weights(weights_plain, pd.diff_weights_desc(), true);
      weights_pad_ = unbound(pd.scratchpad_desc());
    }
    {
      const auto pd = choose(winograd_fits && channels >= kWinogradData, [&](algorithm how) {
        return BackwardData::primitive_desc(
            BackwardData::desc(how, x_desc_, weights_any, y_desc_, strides, padding, padding),
            caller_scratchpad(), device(), hint(how));
      });
      data_backward_ = BackwardData(pd);
      data_weights_ = Weights(weights_plain, pd.weights_desc(), false);
      data_pad_ = unbound(pd.scratchpad_desc());
    }
  }

  Demands demands() const override {
    const auto sum = [](const Weights& weights, const memory& pad) {
      return ScratchCursor::round_up(weights.bytes()) +
             ScratchCursor::round_up(pad.get_desc().get_size());
    };
    return {.input_in_backward = true,
            .output_in_backward = site_.relu,
            .scratch_bytes =
                std::max({sum(forward_weights_, forward_pad_), sum(weights_gradient_, weights_pad_),
                          sum(data_weights_, data_pad_)})};
  }

  void forward(const Call& call, std::byte* scratch) override {
    ScratchCursor cursor(scratch);
    forward_weights_.bind_to(call.parameters + site_.places.parameter[0],
                             cursor.take(forward_weights_.bytes()));
    forward_weights_.pack(stream_);
    bind(forward_pad_, cursor.take(0));
    bind(x_, site_.x->data);
    bind(y_, site_.y->data);
    if (bias_) bind(bias_memory_, call.parameters + site_.places.parameter[1]);
    forward_.execute(stream_, {{DNNL_ARG_SRC, x_},
                               {DNNL_ARG_WEIGHTS, forward_weights_.blocked()},
                               {DNNL_ARG_BIAS, bias_memory_},
                               {DNNL_ARG_DST, y_},
                               {DNNL_ARG_SCRATCHPAD, forward_pad_}});
  }

  void backward(const Call& call, std::byte* scratch) override {
    float* dy = site_.y->collect();
    if (site_.relu) backend::cpu::relu_backward(site_.y->data, dy, site_.y->tiles.size());
    bind(y_, dy);
    bind(x_, site_.x->data);
    {
      ScratchCursor cursor(scratch);
      weights_gradient_.bind_to(call.gradient + site_.places.parameter[0],
                                cursor.take(weights_gradient_.bytes()));
      bind(weights_pad_, cursor.take(0));
      if (bias_) bind(bias_memory_, call.gradient + site_.places.parameter[1]);
      weights_backward_.execute(stream_, {{DNNL_ARG_SRC, x_},
                                          {DNNL_ARG_DIFF_DST, y_},
                                          {DNNL_ARG_DIFF_WEIGHTS, weights_gradient_.blocked()},
                                          {DNNL_ARG_DIFF_BIAS, bias_memory_},
                                          {DNNL_ARG_SCRATCHPAD, weights_pad_}});
      weights_gradient_.unpack(stream_);
    }
    if (!site_.x->wants_gradient()) return;
    ScratchCursor cursor(scratch);
    data_weights_.bind_to(call.parameters + site_.places.parameter[0],
                          cursor.take(data_weights_.bytes()));
    data_weights_.pack(stream_);
    bind(data_pad_, cursor.take(0));
    bind(x_, site_.x->next_gradient());
    data_backward_.execute(stream_, {{DNNL_ARG_DIFF_DST, y_},
                                     {DNNL_ARG_WEIGHTS, data_weights_.blocked()},
                                     {DNNL_ARG_DIFF_SRC, x_},
                                     {DNNL_ARG_SCRATCHPAD, data_pad_}});
  }

 private:
  /// Channels from which on Winograd's F(4x4, 3x3) is faster (benchmarks/network_benchmark.cpp).
  static constexpr std::size_t kWinogradForward = 32;
  static constexpr std::size_t kWinogradData = 32;
  static constexpr std::size_t kWinogradWeights = 16;

  Site site_;
  bool bias_;
  memory::desc x_desc_, y_desc_;
  memory x_, y_, bias_memory_;
  dnnl::stream stream_;
  Forward forward_;
  BackwardWeights weights_backward_;
  BackwardData data_backward_;
  Weights forward_weights_, weights_gradient_, data_weights_;
  memory forward_pad_, weights_pad_, data_pad_;
};

}  // namespace

std::unique_ptr<Step> make_conv2d(const model::Conv2d& conv, const Site& site) {
  return std::make_unique<Conv2dStep>(conv, site);
}

}  // namespace hearsay::engine::cpu
