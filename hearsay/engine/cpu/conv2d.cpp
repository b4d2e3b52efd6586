#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

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

  bool same() const { return same_; }
  std::size_t scratch_bytes() const {
    return same_ ? 0 : ScratchCursor::round_up(wanted_.get_desc().get_size());
  }
  const memory& wanted() const { return wanted_; }
  void* wanted_data() const { return wanted_.get_data_handle(); }

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

/// One of the three convolutions of a layer, for a number of samples. What a lane needs to run it:
/// its own operands; weights and bias are in the layout of the primitive.
template <class Primitive>
struct Pass {
  Primitive primitive;
  Operand x, y;
  memory weights, bias, scratchpad;

  std::size_t scratch_bytes() const {
    return x.scratch_bytes() + y.scratch_bytes() +
           ScratchCursor::round_up(scratchpad.get_desc().get_size());
  }
  void bind_to(const float* of_x, const float* of_y, const void* of_weights, const float* of_bias,
               std::byte* scratch) {
    ScratchCursor cursor(scratch);
    x.bind_to(of_x, cursor);
    y.bind_to(of_y, cursor);
    bind_memory(weights, of_weights);
    if (bias) bind_memory(bias, of_bias);
    bind_memory(scratchpad, cursor.take(0));
  }
};

/// The same over the chunks of a batch, and the weights (or their gradient) in our layout.
template <class Primitive>
struct Chunked {
  Chunks chunks;
  Operand weights;
  std::vector<Pass<Primitive>> whole, rest;  ///< for a chunk, and for the last one; by lane

  Pass<Primitive>& pass(std::size_t lane, std::size_t k) {
    return chunks.size(k) == chunks.each ? whole[lane] : rest[lane];
  }
  std::size_t scratch_bytes() const {  // of a lane
    return std::max(whole[0].scratch_bytes(), rest.empty() ? 0 : rest[0].scratch_bytes());
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
  if (winograd) {
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

/// Samples per chunk of a direct convolution: worth a call, and reading the weights.
std::size_t direct_chunk(std::size_t pixels, std::size_t weights) {
  constexpr std::size_t kLeastProducts = std::size_t{4} << 20, kLeastPixels = 64;
  return std::max(kLeastProducts / (weights * pixels), kLeastPixels / pixels) + 1;
}
/// Winograd's transforms the weights for every chunk, or their gradient, which takes less.
std::size_t winograd_chunk(std::size_t pixels, std::size_t batch) {
  constexpr std::size_t kLeastPixels = 1024;
  return std::max(kLeastPixels / pixels, std::clamp<std::size_t>((batch + 1) / 2, 8, 16));
}
std::size_t winograd_chunk_of_weights(std::size_t pixels) {
  constexpr std::size_t kLeastPixels = 512, kLeast = 8;
  return std::max(kLeastPixels / pixels, kLeast);
}

class Conv2dStep final : public Step {
 public:
  Conv2dStep(const model::Conv2d& conv, const Site& site)
      : site_(site), bias_(conv.bias ? conv.out : 0), stream_(device()) {
    const std::size_t in = site.x->shape.channels, batch = site.x->tiles.samples;
    const memory::dims dims{dim(conv.out), dim(in), dim(conv.kernel), dim(conv.kernel)};
    const memory::dims strides(2, dim(conv.stride)), padding(2, dim(conv.padding));
    const auto plain = plain_desc(dims, Tag::oihw);
    const auto any_weights = plain_desc(dims, Tag::any);
    const auto bias = conv.bias ? plain_desc({dim(conv.out)}, Tag::x) : memory::desc();
    const auto x = [&](std::size_t samples, bool free) {
      const memory::desc d = describe(*site.x, samples);
      return free ? plain_desc(d.dims(), Tag::any) : d;
    };
    const auto y = [&](std::size_t samples, bool free) {
      const memory::desc d = describe(*site.y, samples);
      return free ? plain_desc(d.dims(), Tag::any) : d;
    };
    weights_size_ = conv.out * in * conv.kernel * conv.kernel;

    const auto forward = [&](std::size_t n, const memory::desc& weights, algorithm how, bool free,
                             const dnnl::primitive_attr& attr) {
      return Forward::primitive_desc({dnnl::prop_kind::forward_training, how, x(n, free), weights,
                                      bias, y(n, free), strides, padding, padding},
                                     attr, device());
    };
    const auto hint = [&](std::size_t n, algorithm how, bool free) {  // for backward: without relu
      return forward(n, any_weights, how, free, caller_scratchpad());
    };
    auto with_relu = caller_scratchpad();
    if (site.relu) {
      dnnl::post_ops after;
      after.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
      with_relu.set_post_ops(after);
    }

    const bool winograd = conv.kernel == 3 && conv.stride == 1 && has_avx512();
    const std::size_t channels = std::min(in, conv.out);
    const std::size_t pixels = site.y->shape.pixels();
    const std::size_t direct = direct_chunk(pixels, weights_size_);
    const auto chunks_of = [&](std::size_t each) { return Chunks{batch, std::min(batch, each)}; };

    const bool forward_winograd = winograd && channels >= kWinogradForward;
    compile(forward_, chunks_of(forward_winograd ? winograd_chunk(pixels, batch) : direct), plain,
            Operand::Way::kIn, [&](std::size_t n, const memory::desc* weights) {
              return choose(forward_winograd, [&](algorithm how, bool free) {
                return forward(n, weights ? *weights : any_weights, how, free, with_relu);
              });
            });

    // The parts of the gradient, one per chunk, take memory.
    constexpr std::size_t kMostFloats = std::size_t{1} << 19;
    const std::size_t parts = std::max<std::size_t>(2, kMostFloats / weights_size_);
    const bool weights_winograd = winograd && channels >= kWinogradWeights;
    compile(weights_,
            chunks_of(std::max(weights_winograd ? winograd_chunk_of_weights(pixels) : direct,
                               (batch + parts - 1) / parts)),
            plain, Operand::Way::kOut, [&](std::size_t n, const memory::desc* weights) {
              return choose(weights_winograd, [&](algorithm how, bool free) {
                return BackwardWeights::primitive_desc(
                    {how, x(n, free), weights ? *weights : any_weights, bias, y(n, free), strides,
                     padding, padding},
                    caller_scratchpad(), device(), hint(n, how, free));
              });
            });

    const bool data_winograd = winograd && channels >= kWinogradData;
    compile(data_, chunks_of(data_winograd ? winograd_chunk(pixels, batch) : direct), plain,
            Operand::Way::kIn, [&](std::size_t n, const memory::desc* weights) {
              return choose(data_winograd, [&](algorithm how, bool free) {
                return BackwardData::primitive_desc(
                    {how, x(n, free), weights ? *weights : any_weights, y(n, free), strides,
                     padding, padding},
                    caller_scratchpad(), device(), hint(n, how, free));
              });
            });

    for (std::size_t k = 0; k < weights_.chunks.count(); ++k) tasks_.push_back({true, k});
    for (std::size_t k = 0; k < data_.chunks.count(); ++k) tasks_.push_back({false, k});
    std::ranges::stable_sort(tasks_, {}, [&](const Task& task) {
      return task.of_weights ? weights_.chunks.first(task.k) : data_.chunks.first(task.k);
    });
  }

  Demands demands() const override {
    const std::size_t lanes = site_.lanes.count();
    return {.input_in_backward = true,
            .output_in_backward = site_.relu,
            .scratch_bytes =
                std::max(forward_.weights.scratch_bytes() + lanes * forward_.scratch_bytes(),
                         data_.weights.scratch_bytes() + weights_.weights.scratch_bytes() +
                             (weights_.chunks.count() - 1) * part_bytes() +
                             lanes * std::max(weights_.scratch_bytes(), data_.scratch_bytes()))};
  }

  void forward(const Call& call, std::byte* scratch) override {
    ScratchCursor cursor(scratch);
    forward_.weights.bind_to(call.parameters + site_.places.parameter[0], cursor);
    forward_.weights.pack(stream_);
    std::byte* rest = cursor.take(0);
    site_.lanes.run(forward_.chunks.count(), [&](std::size_t lane, std::size_t k) {
      Pass<Forward>& pass = forward_.pass(lane, k);
      bind(pass, forward_.chunks.first(k), site_.x->data(), site_.y->data(),
           forward_.weights.wanted_data(), call.parameters + site_.places.parameter[1],
           rest + lane * forward_.scratch_bytes());
      pass.x.pack(stream_);
      pass.primitive.execute(stream_, {{DNNL_ARG_SRC, pass.x.wanted()},
                                       {DNNL_ARG_WEIGHTS, pass.weights},
                                       {DNNL_ARG_BIAS, pass.bias},
                                       {DNNL_ARG_DST, pass.y.wanted()},
                                       {DNNL_ARG_SCRATCHPAD, pass.scratchpad}});
      pass.y.unpack(stream_);
    });
  }

  /// Chunks of both gradients side by side, then the sum of the parts of the weights'.
  void backward(const Call& call, std::byte* scratch) override {
    float* dy = collect(site_.lanes, *site_.y);
    if (site_.relu) clear_where_negative(dy);
    float* dx = site_.x->wants_gradient() ? site_.x->next_gradient() : nullptr;

    ScratchCursor cursor(scratch);
    if (dx) {
      data_.weights.bind_to(call.parameters + site_.places.parameter[0], cursor);
      data_.weights.pack(stream_);
    }
    weights_.weights.bind_to(call.gradient + site_.places.parameter[0], cursor);
    float* bias = call.gradient + site_.places.parameter[1];
    const std::size_t parts = weights_.chunks.count(), tasks = dx ? data_.chunks.count() : 0;
    std::byte* of_parts = cursor.take((parts - 1) * part_bytes());
    const auto part = [&](std::size_t k) {  // the first is the sum, too
      return k == 0 ? static_cast<float*>(weights_.weights.wanted_data())
                    : reinterpret_cast<float*>(of_parts + (k - 1) * part_bytes());
    };
    const auto bias_part = [&](std::size_t k) {
      return k == 0 ? bias : part(k) + part_floats() - bias_;
    };
    std::byte* rest = cursor.take(0);
    const std::size_t each = std::max(weights_.scratch_bytes(), data_.scratch_bytes());

    site_.lanes.run(parts + tasks, [&](std::size_t lane, std::size_t i) {
      const auto [of_weights, k] = dx ? tasks_[i] : Task{true, i};
      if (of_weights) {
        backward_weights(lane, k, dy, part(k), bias_part(k), rest + lane * each);
      } else {
        backward_data(lane, k, dy, dx, rest + lane * each);
      }
    });
    if (parts > 1) {
      constexpr std::size_t kBlock = 8192;
      const std::size_t size = weights_.weights.wanted().get_desc().get_size() / sizeof(float);
      site_.lanes.run((size + kBlock - 1) / kBlock, [&](std::size_t, std::size_t block) {
        const std::size_t first = block * kBlock, count = std::min(kBlock, size - first);
        for (std::size_t k = 1; k < parts; ++k) {
          backend::cpu::axpy(1.0f, part(k) + first, part(0) + first, count);
        }
      });
      for (std::size_t k = 1; k < parts && bias_ > 0; ++k) {
        backend::cpu::axpy(1.0f, bias_part(k), bias, bias_);
      }
    }
    weights_.weights.unpack(stream_);
  }

 private:
  /// Number of channels from which Winograd's F(4x4, 3x3) is faster on AVX-512
  /// (docs/performance.md).
  static constexpr std::size_t kWinogradForward = 32;
  static constexpr std::size_t kWinogradData = 32;
  static constexpr std::size_t kWinogradWeights = 16;

  /// `make(samples, weights)` gives a descriptor for that many samples, with weights in that
  /// layout, or in any for null.
  template <class Primitive, class Make>
  void compile(Chunked<Primitive>& chunked, const Chunks& chunks, const memory::desc& plain,
               Operand::Way way, const Make& make) {
    chunked.chunks = chunks;
    const auto whole = make(chunks.each, nullptr);
    const memory::desc weights = weights_of(whole);
    chunked.weights = {plain, weights, way};
    const std::size_t last = chunks.size(chunks.count() - 1);
    for (std::size_t lane = 0; lane < site_.lanes.count(); ++lane) {
      chunked.whole.push_back(pass_of<Primitive>(whole, chunks.each));
    }
    if (last == chunks.each) return;
    const auto rest = make(last, &weights);
    for (std::size_t lane = 0; lane < site_.lanes.count(); ++lane) {
      chunked.rest.push_back(pass_of<Primitive>(rest, last));
    }
  }

  static memory::desc weights_of(const Forward::primitive_desc& d) { return d.weights_desc(); }
  static memory::desc weights_of(const BackwardWeights::primitive_desc& d) {
    return d.diff_weights_desc();
  }
  static memory::desc weights_of(const BackwardData::primitive_desc& d) { return d.weights_desc(); }

  template <class Primitive, class Descriptor>
  Pass<Primitive> pass_of(const Descriptor& descriptor, std::size_t samples) const {
    using enum Operand::Way;
    Pass<Primitive> pass;
    pass.primitive = Primitive(descriptor);
    const auto x = describe(*site_.x, samples), y = describe(*site_.y, samples);
    if constexpr (std::is_same_v<Primitive, Forward>) {
      pass.x = {x, descriptor.src_desc(), kIn};
      pass.y = {y, descriptor.dst_desc(), kOut};
    } else if constexpr (std::is_same_v<Primitive, BackwardWeights>) {
      pass.x = {x, descriptor.src_desc(), kIn};
      pass.y = {y, descriptor.diff_dst_desc(), kIn};
    } else {
      pass.x = {x, descriptor.diff_src_desc(), kOut};
      pass.y = {y, descriptor.diff_dst_desc(), kIn};
    }
    pass.weights = unbound(weights_of(descriptor));
    if (bias_ > 0) pass.bias = unbound(plain_desc({dim(bias_)}, Tag::x));
    pass.scratchpad = unbound(descriptor.scratchpad_desc());
    return pass;
  }

  /// A chunk of one of the two gradients. All are in the order of their samples, so that a lane has
  /// those of the same samples.
  struct Task {
    bool of_weights;
    std::size_t k;
  };

  /// Floats of a part of the weights' gradient, followed by the bias'.
  std::size_t part_floats() const {
    return weights_.weights.wanted().get_desc().get_size() / sizeof(float) + bias_;
  }
  std::size_t part_bytes() const { return ScratchCursor::round_up(part_floats() * sizeof(float)); }

  template <class Primitive>
  void bind(Pass<Primitive>& pass, std::size_t sample, const float* x, const float* y,
            const void* weights, const float* bias, std::byte* scratch) const {
    pass.bind_to(x + sample * site_.x->tiles.sample_size(),
                 y + sample * site_.y->tiles.sample_size(), weights, bias, scratch);
  }

  void clear_where_negative(float* dy) const {
    const std::size_t each = site_.y->tiles.sample_size();
    site_.lanes.for_samples(site_.y->tiles.samples, each,
                            [&](std::size_t first, std::size_t count) {
                              backend::cpu::relu_backward(site_.y->data() + first * each,
                                                          dy + first * each, count * each);
                            });
  }

  void backward_weights(std::size_t lane, std::size_t k, const float* dy, float* dw, float* db,
                        std::byte* scratch) {
    Pass<BackwardWeights>& pass = weights_.pass(lane, k);
    bind(pass, weights_.chunks.first(k), site_.x->data(), dy, dw, db, scratch);
    pass.x.pack(stream_);
    pass.y.pack(stream_);
    pass.primitive.execute(stream_, {{DNNL_ARG_SRC, pass.x.wanted()},
                                     {DNNL_ARG_DIFF_DST, pass.y.wanted()},
                                     {DNNL_ARG_DIFF_WEIGHTS, pass.weights},
                                     {DNNL_ARG_DIFF_BIAS, pass.bias},
                                     {DNNL_ARG_SCRATCHPAD, pass.scratchpad}});
  }

  void backward_data(std::size_t lane, std::size_t k, const float* dy, float* dx,
                     std::byte* scratch) {
    Pass<BackwardData>& pass = data_.pass(lane, k);
    bind(pass, data_.chunks.first(k), dx, dy, data_.weights.wanted_data(), nullptr, scratch);
    pass.y.pack(stream_);
    pass.primitive.execute(stream_, {{DNNL_ARG_DIFF_DST, pass.y.wanted()},
                                     {DNNL_ARG_WEIGHTS, pass.weights},
                                     {DNNL_ARG_DIFF_SRC, pass.x.wanted()},
                                     {DNNL_ARG_SCRATCHPAD, pass.scratchpad}});
    pass.x.unpack(stream_);
  }

  Site site_;
  std::size_t bias_;  ///< its size, or 0
  std::size_t weights_size_ = 0;
  dnnl::stream stream_;
  Chunked<Forward> forward_;
  Chunked<BackwardWeights> weights_;
  Chunked<BackwardData> data_;
  std::vector<Task> tasks_;
};

}  // namespace

std::unique_ptr<Step> make_conv2d(const model::Conv2d& conv, const Site& site) {
  return std::make_unique<Conv2dStep>(conv, site);
}

}  // namespace hearsay::engine::cpu
