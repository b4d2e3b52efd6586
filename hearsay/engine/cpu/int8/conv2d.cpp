#include <algorithm>
#include <cassert>
#include <cstring>

#include "hearsay/engine/cpu/int8/weight_products.h"
#include "hearsay/engine/cpu/int8/weights.h"

namespace hearsay::engine::cpu::int8 {

namespace {

using backend::cpu::ByteProduct;

/// A convolution, its bias and relu. Forward, a sample at a time: all pixels are the rows of one
/// product, a row of the kernel being contiguous bytes; with a stride, the pixels of one row.
///
/// The gradient of data is a convolution of the output's gradient with the turned weights: that
/// gradient is written with zeros between (stride) and around its pixels, on a canvas as large as
/// the output of stride 1 with a border of kernel - 1 - padding.
class Conv2dStep final : public Step {
 public:
  Conv2dStep(const model::Conv2d& conv, const Site& site)
      : conv_(conv),
        site_(site),
        x_(*site.x),
        y_(*site.y),
        weights_(conv.out, x_.shape.channels, conv.kernel * conv.kernel, channels_of(x_),
                 site.x->number != 0),
        weight_products_(conv, x_, y_, site.lanes),
        gradient_(y_, site.index),
        bias_(channels_of(y_), 0.0f) {
    const std::size_t reach = conv.kernel - 1;
    assert(conv.padding <= reach && x_.border >= conv.padding);
    canvas_ = {x_.shape.height + 2 * conv.padding - reach,
               x_.shape.width + 2 * conv.padding - reach, reach - conv.padding};
    for (std::size_t k = 0; k < conv.kernel; ++k) {
      forward_rows_.push_back(static_cast<std::ptrdiff_t>(k * x_.grid().pitch() * channels_of(x_)));
      canvas_rows_.push_back(static_cast<std::ptrdiff_t>(k * canvas_.pitch() * channels_of(y_)));
    }
  }

  Demands demands() const override {
    Pieces forward, backward;
    for (std::size_t lane = 0; lane < site_.lanes.count(); ++lane) take(forward);
    static_cast<void>(take_backward(backward));
    return {
        .input_in_backward = true,
        .output_in_backward = site_.relu,
        .scratch_bytes = std::max(forward.bytes(), backward.bytes() + weight_products_.bytes())};
  }
  std::size_t bytes() const override { return weights_.bytes(); }

  void prepare(const Call& call, bool backward) override {
    weights_.set(call.parameters + site_.places.parameter[0], backward);
    if (conv_.bias) {
      std::copy_n(call.parameters + site_.places.parameter[1], conv_.out, bias_.data());
    }
  }

  void forward(const Call& call, std::byte* scratch) override {
    Pieces counted;
    take(counted);
    const std::size_t out = channels_of(y_);
    for_each_sample(site_.lanes, call, work(), [&](std::size_t lane, std::size_t n) {
      Pieces pieces(scratch + lane * counted.bytes());
      const ForwardMemory memory = take(pieces);
      const Image<const std::int32_t> sums{memory.sums, multiply_forward(n, memory.sums) * out};
      const ImageSize size = size_of_sample(y_);
      const float unit = x_.scales[n] * weights_.scale();
      if (conv_.bias) {
        const Image<float> t{memory.floats, size.columns * out};
        const float m = backend::cpu::add_bias(sums, size, unit, bias_.data(), t);
        store(constant(t), m, site_.relu, y_, n);
        return;
      }
      const auto m = static_cast<float>(backend::cpu::magnitude(sums, size));
      backend::cpu::to_codes(sums, size, factor_of(m, kTop8), image_of(y_, n));
      y_.scales[n] = scale_of(m, unit, kTop8);
      clear_border(y_, n);
      if (site_.relu) relu(y_, n);
    });
  }

  void backward(const Call& call, std::byte* scratch) override {
    Pieces pieces(scratch);
    const BackwardMemory memory = take_backward(pieces);
    gradient_ = memory.gradient;
    float* dy = collect(site_.lanes, y_);
    float* dx = x_.wants_gradient() ? x_.next_gradient() : nullptr;
    for (std::size_t lane = 0; dx && lane < std::min(site_.lanes.count(), call.count); ++lane) {
      std::memset(memory.lanes[lane].canvas, 0, canvas_.pixels() * channels_of(y_));
    }
    for_each_sample(site_.lanes, call, work(), [&](std::size_t lane, std::size_t n) {
      const Image<float> d = gradient_of(y_, dy, n);
      if (site_.relu) relu_backward(y_, n, d);
      gradient_.quantize(call, lane, n, constant(d));
      if (dx) backward_data(lane, n, memory.lanes[lane], gradient_of(x_, dx, n));
    });
    if (conv_.bias) {
      add_bias_gradient(site_.lanes, call, y_, dy, call.gradient + site_.places.parameter[1]);
    }
    weight_products_.add(call, gradient_, Pieces(scratch + pieces.bytes()),
                         call.gradient + site_.places.parameter[0]);
  }

 private:
  struct ForwardMemory {
    std::int32_t* sums;
    float* floats;
  };
  struct OfLane {
    std::int8_t *canvas, *row;
    std::int32_t* sums;
  };
  struct BackwardMemory {
    LayerGradient gradient;
    std::vector<OfLane> lanes;
  };

  /// Of a sample, in entries that are quantized: some 64 products take as long.
  std::size_t work() const {
    return y_.shape.pixels() * conv_.kernel * conv_.kernel * channels_of(x_) * channels_of(y_) / 64;
  }

  /// Rows of sums: those of the padded grid, and up to 16 more (ByteProduct::padded_rows).
  ForwardMemory take(Pieces& pieces) const {
    const std::size_t pitch = conv_.stride == 1 ? x_.grid().pitch() : y_.shape.width;
    const std::size_t pixels = y_.shape.height * pitch + 16;
    return {.sums = pieces.take<std::int32_t>(pixels * channels_of(y_)),
            .floats = pieces.take<float>(conv_.bias ? size_of_sample(y_).size() : 0)};
  }
  BackwardMemory take_backward(Pieces& pieces) const {
    BackwardMemory memory{.gradient = gradient_, .lanes = {}};
    memory.gradient.take(pieces, site_.lanes.count());
    const std::size_t out = channels_of(y_);
    for (std::size_t lane = 0; lane < site_.lanes.count(); ++lane) {
      memory.lanes.push_back(
          {.canvas = pieces.take<std::int8_t>((canvas_.pixels() + Tensor::kBeyond) * out),
           .row = pieces.take<std::int8_t>(y_.shape.width * out),
           .sums = pieces.take<std::int32_t>((x_.shape.height * canvas_.pitch() + 16) *
                                             channels_of(x_))});
    }
    return memory;
  }

  /// Returns the pixels between the rows of the sums.
  std::size_t multiply_forward(std::size_t n, std::int32_t* sums) const {
    const Grid grid = x_.grid();
    const std::size_t channels = channels_of(x_), rows = y_.shape.height, width = y_.shape.width;
    const auto padding = static_cast<std::ptrdiff_t>(conv_.padding);
    const auto first = [&](std::size_t row) {
      return codes_of(x_, n) +
             static_cast<std::size_t>(
                 grid.at(static_cast<std::ptrdiff_t>(row * conv_.stride) - padding, -padding)) *
                 channels;
    };
    ByteProduct product{.rows = (rows - 1) * grid.pitch() + width,
                        .columns = channels_of(y_),
                        .stride = channels * conv_.stride,
                        .segments = forward_rows_,
                        .length = conv_.kernel * channels};
    if (conv_.stride == 1) {
      backend::cpu::multiply(product, first(0), weights_.forward(), sums);
      return grid.pitch();
    }
    product.rows = width;
    for (std::size_t row = 0; row < rows; ++row) {
      backend::cpu::multiply(product, first(row), weights_.forward(),
                             sums + row * width * channels_of(y_));
    }
    return width;
  }

  void backward_data(std::size_t lane, std::size_t n, const OfLane& memory, Image<float> dx) {
    const std::size_t out = channels_of(y_), width = y_.shape.width;
    for (std::size_t row = 0; row < y_.shape.height; ++row) {
      std::int8_t* to = memory.canvas + static_cast<std::size_t>(canvas_.at(
                                            static_cast<std::ptrdiff_t>(row * conv_.stride), 0)) *
                                            out;
      if (conv_.stride == 1) {
        gradient_.round_row(lane, n, row, to);
        continue;
      }
      gradient_.round_row(lane, n, row, memory.row);
      for (std::size_t x = 0; x < width; ++x) {
        std::memcpy(to + x * conv_.stride * out, memory.row + x * out, out);
      }
    }
    const std::size_t pitch = canvas_.pitch();
    backend::cpu::multiply({.rows = (x_.shape.height - 1) * pitch + x_.shape.width,
                            .columns = channels_of(x_),
                            .stride = out,
                            .segments = canvas_rows_,
                            .length = conv_.kernel * out},
                           memory.canvas, weights_.turned(), memory.sums);
    backend::cpu::to_floats(Image<const std::int32_t>{memory.sums, pitch * channels_of(x_)},
                            size_of_sample(x_), gradient_.rounded_scale(n) * weights_.scale(),
                            false, dx);
  }

  model::Conv2d conv_;
  Site site_;
  Tensor& x_;
  Tensor& y_;
  Weights weights_;
  WeightProducts weight_products_;
  LayerGradient gradient_;
  std::vector<float> bias_;
  Grid canvas_;
  std::vector<std::ptrdiff_t> forward_rows_, canvas_rows_;  ///< of the kernel, in bytes
};

}  // namespace

std::unique_ptr<Step> make_conv2d(const model::Conv2d& conv, const Site& site) {
  return std::make_unique<Conv2dStep>(conv, site);
}

}  // namespace hearsay::engine::cpu::int8
