#include <cstring>

#include "hearsay/backend/cpu/int8/pack.h"
#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/engine/cpu/int8/layer_gradient.h"
#include "hearsay/engine/cpu/int8/weights.h"

namespace hearsay::engine::cpu::int8 {

namespace {

constexpr std::ptrdiff_t kOneSegment[] = {0};
constexpr std::size_t kRows = 16;  ///< of a product: the samples of a chunk, padded

/// A linear layer, its bias and relu: the samples of a chunk are the rows of one product. The
/// output of the network's last one is f32.
class LinearStep final : public Step {
 public:
  LinearStep(const model::Linear& linear, const Site& site)
      : linear_(linear),
        site_(site),
        x_(*site.x),
        y_(*site.y),
        out_(round_up(linear.out, 16)),
        weights_(linear.out, x_.shape.channels, 1, channels_of(x_), site.x->number != 0),
        gradient_(y_, site.index),
        bias_(out_, 0.0f) {}

  Demands demands() const override {
    Pieces pieces;
    take(pieces);
    return {.input_in_backward = true,
            .output_in_backward = site_.relu,
            .scratch_bytes = pieces.bytes()};
  }
  std::size_t bytes() const override { return weights_.bytes(); }

  void prepare(const Call& call, bool backward) override {
    weights_.set(call.parameters + site_.places.parameter[0], backward);
    if (linear_.bias) {
      std::copy_n(call.parameters + site_.places.parameter[1], linear_.out, bias_.data());
    }
  }

  void forward(const Call& call, std::byte* scratch) override {
    Pieces pieces(scratch);
    const Memory memory = take(pieces);
    const std::size_t in = channels_of(x_);
    backend::cpu::multiply(
        {.rows = call.count, .columns = out_, .stride = in, .segments = kOneSegment, .length = in},
        codes_of(x_, 0), weights_.forward(), memory.sums);
    for (std::size_t n = 0; n < call.count; ++n) {
      const Image<float> t{memory.floats, out_};
      const float m = backend::cpu::add_bias({memory.sums + n * out_, out_}, {1, 1, out_},
                                             x_.scales[n] * weights_.scale(), bias_.data(), t);
      if (y_.type == ElementType::kF32) {
        std::copy_n(t.data, out_, y_.data() + n * out_);
      } else {
        store(constant(t), m, site_.relu, y_, n);
      }
    }
  }

  void backward(const Call& call, std::byte* scratch) override {
    Pieces pieces(scratch);
    const Memory memory = take(pieces);
    gradient_ = memory.gradient;
    float* dy = collect(site_.lanes, y_);
    for (std::size_t n = 0; n < call.count; ++n) {
      const Image<float> d = gradient_of(y_, dy, n);
      if (site_.relu) relu_backward(y_, n, d);
      gradient_.quantize(call, 0, n, constant(d));
      gradient_.round_row(0, n, 0, memory.rounded + n * out_);
    }
    if (linear_.bias) {
      add_bias_gradient(site_.lanes, call, y_, dy, call.gradient + site_.places.parameter[1]);
    }
    if (x_.wants_gradient()) backward_data(call, memory, x_.next_gradient());
    add_weight_gradient(call, memory, call.gradient + site_.places.parameter[0]);
  }

 private:
  struct Memory {
    LayerGradient gradient;
    std::int8_t *rounded{}, *high{}, *low{}, *planes{}, *quads{};
    std::int32_t* sums{};
    float* floats{};
  };
  Memory take(Pieces& pieces) const {
    Memory memory{.gradient = gradient_};
    memory.gradient.take(pieces, 1);
    const std::size_t in = channels_of(x_);
    memory.rounded = pieces.take<std::int8_t>(kRows * out_);
    memory.high = pieces.take<std::int8_t>(kRows * out_);
    memory.low = pieces.take<std::int8_t>(kRows * out_);
    memory.planes = pieces.take<std::int8_t>(2 * kRows * out_);
    memory.quads = pieces.take<std::int8_t>(kRows * in);
    memory.sums = pieces.take<std::int32_t>(2 * kRows * std::max(in, out_));
    memory.floats = pieces.take<float>(out_);
    return memory;
  }

  void backward_data(const Call& call, const Memory& memory, float* dx) const {
    const std::size_t in = channels_of(x_);
    backend::cpu::multiply({.rows = call.count,
                            .columns = in,
                            .stride = out_,
                            .segments = kOneSegment,
                            .length = out_},
                           memory.rounded, weights_.turned(), memory.sums);
    for (std::size_t n = 0; n < call.count; ++n) {
      backend::cpu::to_floats(Image<const std::int32_t>{memory.sums + n * in, in}, {1, 1, in},
                              gradient_.rounded_scale(n) * weights_.scale(), false,
                              gradient_of(x_, dx, n));
    }
  }

  /// Products of the halves of 16 outputs, as rows, with all inputs; the terms are the samples.
  void add_weight_gradient(const Call& call, const Memory& memory, float* gradient) {
    const std::size_t in = channels_of(x_);
    const float unit = gradient_.share(x_.scales, call.count);
    std::memset(memory.high, 0, kRows * out_);
    std::memset(memory.low, 0, kRows * out_);
    for (std::size_t n = 0; n < call.count; ++n) {
      gradient_.halves(n, 0, memory.high + n * out_, memory.low + n * out_);
    }
    backend::cpu::to_planes(memory.high, kRows, out_, kRows, memory.planes);
    backend::cpu::to_planes(memory.low, kRows, out_, kRows, memory.planes + kRows * out_);
    backend::cpu::to_quads(codes_of(x_, 0), kRows, in, in, memory.quads);
    for (std::size_t first = 0; first < linear_.out; first += kRows) {
      const std::ptrdiff_t segment[] = {0};
      for (std::size_t half = 0; half < 2; ++half) {
        backend::cpu::multiply(
            {.rows = kRows, .columns = in, .stride = kRows, .segments = segment, .length = kRows},
            memory.planes + half * kRows * out_ + first * kRows, memory.quads,
            memory.sums + half * kRows * in);
      }
      for (std::size_t o = first; o < std::min(first + kRows, linear_.out); ++o) {
        const std::int32_t* high = memory.sums + (o - first) * in;
        const std::int32_t* low = high + kRows * in;
        for (std::size_t i = 0; i < x_.shape.channels; ++i) {
          gradient[o * x_.shape.channels + i] +=
              unit * static_cast<float>(256 * std::int64_t{high[i]} + low[i]);
        }
      }
    }
  }

  model::Linear linear_;
  Site site_;
  Tensor& x_;
  Tensor& y_;
  std::size_t out_;
  Weights weights_;
  LayerGradient gradient_;
  std::vector<float> bias_;
};

}  // namespace

std::unique_ptr<Step> make_linear(const model::Linear& linear, const Site& site) {
  return std::make_unique<LinearStep>(linear, site);
}

}  // namespace hearsay::engine::cpu::int8
