#include <algorithm>
#include <vector>

#include "hearsay/engine/cpu/onednn.h"
#include "hearsay/engine/cpu/step.h"

namespace hearsay::engine::cpu {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Forward = dnnl::inner_product_forward;
using BackwardData = dnnl::inner_product_backward_data;
using BackwardWeights = dnnl::inner_product_backward_weights;

/// One of the three products of a layer for a number of samples, and the operands of a lane.
template <class Primitive>
struct Pass {
  Primitive primitive;
  memory x, y, weights, bias, pad;

  std::size_t scratch_bytes() const { return ScratchCursor::round_up(pad.get_desc().get_size()); }
  void bind_to(const float* of_x, const float* of_y, const float* of_weights, const float* of_bias,
               std::byte* scratch) {
    bind_memory(x, of_x);
    bind_memory(y, of_y);
    bind_memory(weights, of_weights);
    if (bias) bind_memory(bias, of_bias);
    bind_memory(pad, scratch);
  }
};

/// Everything is in the plain layout, so parameters and gradients are used in place. Outputs and
/// the gradient of data are computed in chunks of samples, that of the weights beside the latter.
class LinearStep final : public Step {
 public:
  LinearStep(const model::Linear& linear, const Site& site)
      : site_(site), linear_(linear), stream_(device()) {
    constexpr std::size_t kLeastProducts = std::size_t{1} << 20, kLeastSamples = 16;
    const std::size_t batch = site.x->tiles.samples, in = site.x->shape.channels;
    const std::size_t each = kLeastProducts / (in * linear.out) + 1;
    chunks_ = {batch, std::min(batch, std::max(each, kLeastSamples))};
    const std::size_t last = chunks_.size(chunks_.count() - 1);
    for (std::size_t lane = 0; lane < site.lanes.count(); ++lane) {
      for (std::size_t samples : {chunks_.each, last}) {
        forward_.push_back(forward_pass(samples));
        if (site.x->number != 0) data_.push_back(data_pass(samples));
      }
    }
    weights_ = weights_pass(batch);
    scratch_bytes_ = weights_.scratch_bytes();
    for (const auto& pass : forward_)
      scratch_bytes_ = std::max(scratch_bytes_, pass.scratch_bytes());
    for (const auto& pass : data_) scratch_bytes_ = std::max(scratch_bytes_, pass.scratch_bytes());
  }

  Demands demands() const override {
    return {.input_in_backward = true,
            .output_in_backward = site_.relu,
            .scratch_bytes = site_.lanes.count() * scratch_bytes_};
  }

  void forward(const Call& call, std::byte* scratch) override {
    const float* weights = call.parameters + site_.places.parameter[0];
    const float* bias = call.parameters + site_.places.parameter[1];
    const std::size_t in = site_.x->shape.channels, out = linear_.out;
    site_.lanes.run(chunks_.count(), [&](std::size_t lane, std::size_t k) {
      Pass<Forward>& pass = forward_[2 * lane + is_last(k)];
      const std::size_t n = chunks_.first(k);
      float* y = site_.y->data() + n * out;
      pass.bind_to(site_.x->data() + n * in, y, weights, bias, scratch + lane * scratch_bytes_);
      pass.primitive.execute(stream_, {{DNNL_ARG_SRC, pass.x},
                                       {DNNL_ARG_WEIGHTS, pass.weights},
                                       {DNNL_ARG_BIAS, pass.bias},
                                       {DNNL_ARG_DST, pass.y},
                                       {DNNL_ARG_SCRATCHPAD, pass.pad}});
      if (site_.relu) backend::cpu::relu(y, y, chunks_.size(k) * out);
    });
  }

  void backward(const Call& call, std::byte* scratch) override {
    float* dy = collect(site_.lanes, *site_.y);
    if (site_.relu) backend::cpu::relu_backward(site_.y->data(), dy, site_.y->tiles.size());
    float* dx = site_.x->wants_gradient() ? site_.x->next_gradient() : nullptr;
    const std::size_t in = site_.x->shape.channels, out = linear_.out;
    site_.lanes.run(dx ? 1 + chunks_.count() : 1, [&](std::size_t lane, std::size_t task) {
      std::byte* pad = scratch + lane * scratch_bytes_;
      if (task == 0) {
        weights_.bind_to(site_.x->data(), dy, call.gradient + site_.places.parameter[0],
                         call.gradient + site_.places.parameter[1], pad);
        weights_.primitive.execute(stream_, {{DNNL_ARG_SRC, weights_.x},
                                             {DNNL_ARG_DIFF_DST, weights_.y},
                                             {DNNL_ARG_DIFF_WEIGHTS, weights_.weights},
                                             {DNNL_ARG_DIFF_BIAS, weights_.bias},
                                             {DNNL_ARG_SCRATCHPAD, weights_.pad}});
        return;
      }
      const std::size_t k = task - 1, n = chunks_.first(k);
      Pass<BackwardData>& pass = data_[2 * lane + is_last(k)];
      pass.bind_to(dx + n * in, dy + n * out, call.parameters + site_.places.parameter[0], nullptr,
                   pad);
      pass.primitive.execute(stream_, {{DNNL_ARG_DIFF_DST, pass.y},
                                       {DNNL_ARG_WEIGHTS, pass.weights},
                                       {DNNL_ARG_DIFF_SRC, pass.x},
                                       {DNNL_ARG_SCRATCHPAD, pass.pad}});
    });
  }

 private:
  std::size_t is_last(std::size_t k) const { return k + 1 == chunks_.count() ? 1 : 0; }

  memory::desc x(std::size_t samples) const {
    return plain_desc({dim(samples), dim(site_.x->shape.channels)}, Tag::nc);
  }
  memory::desc y(std::size_t samples) const {
    return plain_desc({dim(samples), dim(linear_.out)}, Tag::nc);
  }
  memory::desc weights() const {
    return plain_desc({dim(linear_.out), dim(site_.x->shape.channels)}, Tag::oi);
  }
  memory::desc bias() const { return plain_desc({dim(linear_.out)}, Tag::x); }

  template <class Primitive, class Descriptor>
  Pass<Primitive> pass_of(const Descriptor& descriptor, std::size_t samples) const {
    return {Primitive(descriptor),
            unbound(x(samples)),
            unbound(y(samples)),
            unbound(weights()),
            linear_.bias ? unbound(bias()) : memory(),
            unbound(descriptor.scratchpad_desc())};
  }
  Forward::primitive_desc forward_of(std::size_t n) const {
    const auto kind = dnnl::prop_kind::forward_training;
    return {linear_.bias ? Forward::desc(kind, x(n), weights(), bias(), y(n))
                         : Forward::desc(kind, x(n), weights(), y(n)),
            caller_scratchpad(), device()};
  }
  Pass<Forward> forward_pass(std::size_t n) const { return pass_of<Forward>(forward_of(n), n); }
  Pass<BackwardData> data_pass(std::size_t n) const {
    return pass_of<BackwardData>(
        BackwardData::primitive_desc(BackwardData::desc(x(n), weights(), y(n)), caller_scratchpad(),
                                     device(), forward_of(n)),
        n);
  }
  Pass<BackwardWeights> weights_pass(std::size_t n) const {
    return pass_of<BackwardWeights>(
        BackwardWeights::primitive_desc(linear_.bias
                                            ? BackwardWeights::desc(x(n), weights(), bias(), y(n))
                                            : BackwardWeights::desc(x(n), weights(), y(n)),
                                        caller_scratchpad(), device(), forward_of(n)),
        n);
  }

  Site site_;
  model::Linear linear_;
  dnnl::stream stream_;
  Chunks chunks_;
  /// By lane, for a chunk and for the last one.
  std::vector<Pass<Forward>> forward_;
  std::vector<Pass<BackwardData>> data_;
  Pass<BackwardWeights> weights_;
  std::size_t scratch_bytes_ = 0;  ///< of a lane
};

/// The same for few weights, in plain loops: the code that oneDNN generates for its products takes
/// more memory than such a layer, and than a small network.
class SmallLinearStep final : public Step {
 public:
  SmallLinearStep(const model::Linear& linear, const Site& site)
      : site_(site), in_(site.x->shape.channels), out_(linear.out), bias_(linear.bias) {}

  static bool is_for(const model::Linear& linear, const Site& site) {
    constexpr std::size_t kMostWeights = 6144;
    return site.x->shape.channels * linear.out <= kMostWeights;
  }

  Demands demands() const override {
    return {.input_in_backward = true,
            .output_in_backward = site_.relu,
            .scratch_bytes = is_wide() ? in_ * out_ * sizeof(float) : 0};
  }

  void forward(const Call& call, std::byte* scratch) override {
    const float* weights = call.parameters + site_.places.parameter[0];
    const float* bias = call.parameters + site_.places.parameter[1];
    auto* turned = reinterpret_cast<float*>(scratch);
    if (is_wide()) {
      for (std::size_t o = 0; o < out_; ++o) {
        for (std::size_t i = 0; i < in_; ++i) turned[i * out_ + o] = weights[o * in_ + i];
      }
    }
    for_samples([&](std::size_t n) {
      const float* x = site_.x->data() + n * in_;
      float* y = site_.y->data() + n * out_;
      if (is_wide()) {
        backend::cpu::sum_rows(x, 1, turned, in_, y, out_);
      } else {
        for (std::size_t o = 0; o < out_; ++o) y[o] = backend::cpu::dot(x, weights + o * in_, in_);
      }
      if (bias_) backend::cpu::add(y, bias, y, out_);
      if (site_.relu) backend::cpu::relu(y, y, out_);
    });
  }

  void backward(const Call& call, std::byte*) override {
    float* dy = collect(site_.lanes, *site_.y);
    const std::size_t samples = site_.x->tiles.samples;
    if (site_.relu) backend::cpu::relu_backward(site_.y->data(), dy, samples * out_);
    for (std::size_t o = 0; o < out_; ++o) {
      backend::cpu::sum_rows(dy + o, out_, site_.x->data(), samples,
                             call.gradient + site_.places.parameter[0] + o * in_, in_);
      if (!bias_) continue;
      float& bias = call.gradient[site_.places.parameter[1] + o];
      bias = 0;
      for (std::size_t n = 0; n < samples; ++n) bias += dy[n * out_ + o];
    }
    if (!site_.x->wants_gradient()) return;
    const float* weights = call.parameters + site_.places.parameter[0];
    float* dx = site_.x->next_gradient();
    for_samples([&](std::size_t n) {
      backend::cpu::sum_rows(dy + n * out_, 1, weights, out_, dx + n * in_, in_);
    });
  }

 private:
  /// Whether a vector of outputs is computed faster than single ones.
  bool is_wide() const { return out_ >= 16; }

  template <class Body>
  void for_samples(const Body& body) const {
    site_.lanes.for_samples(site_.x->tiles.samples, in_, [&](std::size_t first, std::size_t count) {
      for (std::size_t n = first; n < first + count; ++n) body(n);
    });
  }

  Site site_;
  std::size_t in_, out_;
  bool bias_;
};

}  // namespace

std::unique_ptr<Step> make_linear(const model::Linear& linear, const Site& site) {
  if (SmallLinearStep::is_for(linear, site)) return std::make_unique<SmallLinearStep>(linear, site);
  return std::make_unique<LinearStep>(linear, site);
}

}  // namespace hearsay::engine::cpu
