#include "hearsay/engine/cuda/int8/conv_norm.cuh"

#include <algorithm>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/int8/weight_gradient.h"

namespace hearsay::engine::cuda::int8 {

namespace {

using backend::cuda::LaunchRecorder;
using backend::cuda::Memory;

unsigned rounded(std::size_t bytes) { return static_cast<unsigned>((bytes + 15) / 16 * 16); }

BlockMemory forward_memory(const ConvSizes& conv, const Norm& norm, bool residual) {
  BlockMemory at;
  at.offsets = rounded(conv.product.canvas_bytes());
  at.slots = at.offsets + conv.product.offset_bytes();
  at.codes = at.slots + 4 * norm.x.size();
  at.runs = at.codes + (residual ? norm.x.size() : 0);
  at.sums = at.runs + rounded(8 * norm.groups * kRuns);
  at.bytes = at.sums + rounded(4 * norm.groups);
  return at;
}

BlockMemory backward_memory(const ConvSizes& conv, const Norm& norm, bool wants_dx) {
  BlockMemory at;
  const unsigned parts = 12 * norm.x.height * norm.x.channels;
  at.offsets = rounded(std::max(parts, wants_dx ? conv.product.canvas_bytes() : 0));
  at.slots = at.offsets + (wants_dx ? conv.product.offset_bytes() : 0);
  at.codes = at.slots + 4 * norm.x.size();
  at.sums = at.codes + norm.x.size();
  at.runs = at.sums + rounded(8 * (3 * norm.x.channels + norm.groups));
  at.shares = at.runs + 8 * norm.groups * kRuns;
  at.extremes = at.shares + 8 * norm.groups * kRuns;
  at.bytes = at.extremes + rounded(2 * norm.groups * kRuns);
  return at;
}

class ConvNormStep final : public Step {
 public:
  ConvNormStep(const model::Conv2d& conv, const Site& conv_site, const model::RangeEvoNorm& norm,
               const Site& norm_site)
      : conv_(conv_site),
        norm_(norm_site),
        wants_dx_(conv_site.training && conv_site.x->wants_gradient()),
        tensor_(conv_site.weights->add(conv_site.places.parameter[0], conv.out,
                                       conv_site.x->shape.channels, conv.kernel * conv.kernel,
                                       wants_dx_)),
        state_(norm, norm_site),
        forward_{.conv = forward_shape(conv, conv_site),
                 .norm = state_.norm(),
                 .memory = {},
                 .phases = phases_of(state_.norm().x.channels, state_.norm().x.height,
                                     state_.norm().x.width)},
        backward_{.conv = backward_shape(conv, conv_site),
                  .norm = state_.norm(),
                  .memory = {},
                  .phases = phases_of(state_.norm().x.channels, state_.norm().x.height,
                                      state_.norm().x.width)},
        blocks_(std::min<unsigned>(state_.norm().x.samples, 2 * conv_site.processors)) {
    forward_.memory = forward_memory(forward_.conv, forward_.norm, norm_site.residual != nullptr);
    backward_.memory = backward_memory(backward_.conv, backward_.norm, wants_dx_);
    forward_kernel_ = forward_kernel(forward_);
    backward_kernel_ = backward_kernel(backward_);
    if (!conv_site.training) return;
    codes_ = Memory<std::int16_t>(conv_site.y->size());
    scales_ = Memory<float>(conv_site.y->samples());
    weight_gradient_ = std::make_unique<WeightGradient>(
        conv, conv_site.places.parameter[0], *conv_site.x, *conv_site.y, codes_.data(),
        scales_.data(), conv_site.processors, conv_site.shared_bytes, *conv_site.sums);
  }

  /// Whether a block's memory suffices, rows are parts of runs, and there is a thread per four
  /// channels.
  static bool fits(const model::Conv2d& conv, const Site& conv_site,
                   const model::RangeEvoNorm& norm, const Site& norm_site) {
    const Norm sizes = sizes_of(norm, norm_site);
    const bool wants_dx = conv_site.training && conv_site.x->wants_gradient();
    const unsigned bytes = std::max(
        forward_memory(forward_shape(conv, conv_site), sizes, norm_site.residual != nullptr).bytes,
        backward_memory(backward_shape(conv, conv_site), sizes, wants_dx).bytes);
    return sizes.run % sizes.x.width == 0 && sizes.x.channels <= 4 * kThreads &&
           bytes <= static_cast<unsigned>(conv_site.shared_bytes) - 1024;
  }

  void forward(LaunchRecorder& recorder, const Call& call) override {
    const PackedTensor& packed = conv_.weights->tensor(tensor_);
    const Tensor* residual = norm_.residual;
    recorder.launch(
        forward_kernel_, blocks_, kThreads, forward_.memory.bytes, conv_.x->codes, conv_.x->scales,
        {.words = packed.forward,
         .words_of_peer = packed.forward_words,
         .magnitudes = conv_.weights->magnitudes(tensor_)},
        call.parameters, forward_, residual ? residual->codes : nullptr,
        residual ? residual->scales : nullptr, {.codes = conv_.y->codes, .scales = conv_.y->scales},
        {.codes = norm_.y->codes, .scales = norm_.y->scales});
  }

  void backward(LaunchRecorder& recorder, const Call& call) override {
    const PackedTensor& packed = conv_.weights->tensor(tensor_);
    Tensor* residual = norm_.residual;
    const bool wants_residual = residual != nullptr && residual->wants_gradient();
    const bool add_residual = wants_residual && residual->adds();
    recorder.launch(backward_kernel_, blocks_, kThreads, backward_.memory.bytes, conv_.y->codes,
                    conv_.y->scales,
                    {.words = packed.turned,
                     .words_of_peer = packed.turned_words,
                     .magnitudes = conv_.weights->magnitudes(tensor_)},
                    call.parameters, call.dropout_keys, backward_,
                    {.dy = norm_.y->gradient,
                     .residual = wants_residual ? residual->gradient : nullptr,
                     .parts = state_.parts(),
                     .codes = codes_.data(),
                     .scales = scales_.data(),
                     .dx = wants_dx_ ? conv_.x->gradient : nullptr,
                     .add_residual = add_residual,
                     .add = wants_dx_ && conv_.x->adds(),
                     .operation = static_cast<unsigned>(conv_.index),
                     .unused = 0});
    weight_gradient_->compute(recorder, call);
  }

 private:
  Site conv_, norm_;
  bool wants_dx_;
  std::size_t tensor_;
  NormState state_;
  Sizes forward_, backward_;
  ForwardKernel forward_kernel_ = nullptr;
  BackwardKernel backward_kernel_ = nullptr;
  unsigned blocks_;
  Memory<std::int16_t> codes_;  ///< Q16 of the gradient between
  Memory<float> scales_;
  std::unique_ptr<WeightGradient> weight_gradient_;
};

}  // namespace

std::unique_ptr<Step> make_conv_norm(const model::Conv2d& conv, const Site& conv_site,
                                     const model::RangeEvoNorm& norm, const Site& norm_site) {
  if (!ConvNormStep::fits(conv, conv_site, norm, norm_site)) return nullptr;
  return std::make_unique<ConvNormStep>(conv, conv_site, norm, norm_site);
}

}  // namespace hearsay::engine::cuda::int8
