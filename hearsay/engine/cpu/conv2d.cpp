#include <string_view>
#include <tuple>

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

/// An operand of a primitive: in our layout and in the one that the primitive wants. Reordered into
/// scratch memory, or used in place if the two are the same.
class Operand {
 public:
  enum class Way { kIn, kOut };

  Operand() = default;
  Operand(const memory::desc& ours, const memory::desc& wanted, Way way)
      : ours_(unbound(ours)), wanted_(unbound(wanted)), same_(ours == wanted) {
    if (same_) return;
    const auto& [from, to] = way == Way::kIn ? std::tie(ours, wanted) : std::tie(wanted, ours);
    reorder_ = dnnl::reorder(
        dnnl::reorder::primitive_desc(device(), from, device(), to, caller_scratchpad()));
  }

  std::size_t scratch_bytes() const {
    return same_ ? 0 : ScratchCursor::round_up(wanted_.get_desc().get_size());
  }
  const memory& wanted() const { return wanted_; }

  void bind_to(const void* data, ScratchCursor& scratch) {
    bind_memory(ours_, data);
    bind_memory(wanted_, same_ ? data : scratch.take(scratch_bytes()));
  }
  void pack(dnnl::stream& stream) {
    if (!same_) reorder_.execute(stream, ours_, wanted_);
  }
  void unpack(dnnl::stream& stream) {
    if (!same_) reorder_.execute(stream, wanted_, ours_);
  }

 private:
  memory ours_, wanted_;
  dnnl::reorder reorder_;
  bool same_ = true;
};

/// One of the three convolutions of a layer, with its operands.
template <class Primitive>
struct Pass {
  Primitive primitive;
  Operand x, y, weights;
  memory scratchpad;

  std::size_t scratch_bytes() const {
    return x.scratch_bytes() + y.scratch_bytes() + weights.scratch_bytes() +
           ScratchCursor::round_up(scratchpad.get_desc().get_size());
  }
  void bind_to(const void* of_x, const void* of_y, const void* of_weights, std::byte* scratch) {
    ScratchCursor cursor(scratch);
    x.bind_to(of_x, cursor);
    y.bind_to(of_y, cursor);
    weights.bind_to(of_weights, cursor);
    bind_memory(scratchpad, cursor.take(0));
  }
};

/// oneDNN's reference implementation, some hundred times slower than its other code.
template <class Descriptor>
bool is_slow(const Descriptor& descriptor) {
  return std::string_view(descriptor.impl_info_str()).starts_with("ref");
}

/// The best descriptor that `make(algorithm, free_layout)` gives: Winograd if wanted and available,
/// else the direct one in our activation layouts, or, if oneDNN has only its reference
/// implementation for those, in layouts of its own choice.
template <class Make>
auto choose(bool winograd, const Make& make) {
  if (winograd && has_avx512()) {
    try {
      return make(algorithm::convolution_winograd, false);
    } catch (const dnnl::error&) {
      // Not available for this shape; the direct form always is.
    }
  }
  auto in_our_layouts = make(algorithm::convolution_direct, false);
  if (!is_slow(in_our_layouts)) return in_our_layouts;
  auto in_any = make(algorithm::convolution_auto, true);
  return is_slow(in_any) ? in_our_layouts : in_any;
}

class Conv2dStep final : public Step {
 public:
  Conv2dStep(const model::Conv2d& conv, const Site& site)
      : site_(site), bias_(conv.bias), stream_(device()) {
    using enum Operand::Way;
    const std::size_t in = site.x->shape.channels;
    const memory::dims dims{dim(conv.out), dim(in), dim(conv.kernel), dim(conv.kernel)};
    const memory::dims strides(2, dim(conv.stride)), padding(2, dim(conv.padding));
    const auto plain = plain_desc(dims, Tag::oihw);
    const auto any_weights = plain_desc(dims, Tag::any);
    const auto bias = conv.bias ? plain_desc({dim(conv.out)}, Tag::x) : memory::desc();
    const auto x = describe(*site.x), y = describe(*site.y);
    const auto any = [](const memory::desc& d, bool free) {
      return free ? plain_desc(d.dims(), Tag::any) : d;
    };
    bias_memory_ = unbound(bias);

    const auto forward = [&](algorithm how, bool free, const dnnl::primitive_attr& attr) {
      return Forward::primitive_desc({dnnl::prop_kind::forward_training, how, any(x, free),
                                      any_weights, bias, any(y, free), strides, padding, padding},
                                     attr, device());
    };
    const auto hint = [&](algorithm how, bool free) {  // for backward: without relu
      return forward(how, free, caller_scratchpad());
    };
    auto with_relu = caller_scratchpad();
    if (site.relu) {
      dnnl::post_ops after;
      after.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
      with_relu.set_post_ops(after);
    }

    const bool winograd = conv.kernel == 3 && conv.stride == 1;
    const std::size_t channels = std::min(in, conv.out);
    const auto there =
        choose(winograd && channels >= kWinogradForward,
               [&](algorithm how, bool free) { return forward(how, free, with_relu); });
    forward_ = {Forward(there),
                {x, there.src_desc(), kIn},
                {y, there.dst_desc(), kOut},
                {plain, there.weights_desc(), kIn},
                unbound(there.scratchpad_desc())};

    const auto to_weights =
        choose(winograd && channels >= kWinogradWeights, [&](algorithm how, bool free) {
          return BackwardWeights::primitive_desc(
              {how, any(x, free), any_weights, bias, any(y, free), strides, padding, padding},
              caller_scratchpad(), device(), hint(how, free));
        });
    weights_ = {BackwardWeights(to_weights),
                {x, to_weights.src_desc(), kIn},
                {y, to_weights.diff_dst_desc(), kIn},
                {plain, to_weights.diff_weights_desc(), kOut},
                unbound(to_weights.scratchpad_desc())};

    const auto to_data =
        choose(winograd && channels >= kWinogradData, [&](algorithm how, bool free) {
          return BackwardData::primitive_desc(
              {how, any(x, free), any_weights, any(y, free), strides, padding, padding},
              caller_scratchpad(), device(), hint(how, free));
        });
    data_ = {BackwardData(to_data),
             {x, to_data.diff_src_desc(), kOut},
             {y, to_data.diff_dst_desc(), kIn},
             {plain, to_data.weights_desc(), kIn},
             unbound(to_data.scratchpad_desc())};
  }

  Demands demands() const override {
    return {.input_in_backward = true,
            .output_in_backward = site_.relu,
            .scratch_bytes = std::max(
                {forward_.scratch_bytes(), weights_.scratch_bytes(), data_.scratch_bytes()})};
  }

  void forward(const Call& call, std::byte* scratch) override {
    forward_.bind_to(site_.x->data(), site_.y->data(), call.parameters + site_.places.parameter[0],
                     scratch);
    if (bias_) bind_memory(bias_memory_, call.parameters + site_.places.parameter[1]);
    forward_.x.pack(stream_);
    forward_.weights.pack(stream_);
    forward_.primitive.execute(stream_, {{DNNL_ARG_SRC, forward_.x.wanted()},
                                         {DNNL_ARG_WEIGHTS, forward_.weights.wanted()},
                                         {DNNL_ARG_BIAS, bias_memory_},
                                         {DNNL_ARG_DST, forward_.y.wanted()},
                                         {DNNL_ARG_SCRATCHPAD, forward_.scratchpad}});
    forward_.y.unpack(stream_);
  }

  void backward(const Call& call, std::byte* scratch) override {
    float* dy = site_.y->collect();
    if (site_.relu) backend::cpu::relu_backward(site_.y->data(), dy, site_.y->tiles.size());

    weights_.bind_to(site_.x->data(), dy, call.gradient + site_.places.parameter[0], scratch);
    if (bias_) bind_memory(bias_memory_, call.gradient + site_.places.parameter[1]);
    weights_.x.pack(stream_);
    weights_.y.pack(stream_);
    weights_.primitive.execute(stream_, {{DNNL_ARG_SRC, weights_.x.wanted()},
                                         {DNNL_ARG_DIFF_DST, weights_.y.wanted()},
                                         {DNNL_ARG_DIFF_WEIGHTS, weights_.weights.wanted()},
                                         {DNNL_ARG_DIFF_BIAS, bias_memory_},
                                         {DNNL_ARG_SCRATCHPAD, weights_.scratchpad}});
    weights_.weights.unpack(stream_);
    if (!site_.x->wants_gradient()) return;

    data_.bind_to(site_.x->next_gradient(), dy, call.parameters + site_.places.parameter[0],
                  scratch);
    data_.y.pack(stream_);
    data_.weights.pack(stream_);
    data_.primitive.execute(stream_, {{DNNL_ARG_DIFF_DST, data_.y.wanted()},
                                      {DNNL_ARG_WEIGHTS, data_.weights.wanted()},
                                      {DNNL_ARG_DIFF_SRC, data_.x.wanted()},
                                      {DNNL_ARG_SCRATCHPAD, data_.scratchpad}});
    data_.x.unpack(stream_);
  }

 private:
  /// Number of channels from which Winograd's F(4x4, 3x3) is faster on AVX-512
  /// (docs/performance.md).
  static constexpr std::size_t kWinogradForward = 32;
  static constexpr std::size_t kWinogradData = 32;
  static constexpr std::size_t kWinogradWeights = 16;

  Site site_;
  bool bias_;
  dnnl::stream stream_;
  memory bias_memory_;
  Pass<Forward> forward_;
  Pass<BackwardWeights> weights_;
  Pass<BackwardData> data_;
};

}  // namespace

std::unique_ptr<Step> make_conv2d(const model::Conv2d& conv, const Site& site) {
  return std::make_unique<Conv2dStep>(conv, site);
}

}  // namespace hearsay::engine::cpu
