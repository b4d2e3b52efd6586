#include "hearsay/engine/cpu/int8/weight_products.h"

#include <algorithm>
#include <cstring>

#include "hearsay/backend/cpu/int8/pack.h"

namespace hearsay::engine::cpu::int8 {

using backend::cpu::ByteProduct;

WeightProducts::WeightProducts(const model::Conv2d& conv, const Tensor& x, const Tensor& y,
                               const Lanes& lanes)
    : conv_(conv),
      x_(x),
      y_(y),
      lanes_(lanes),
      copies_(conv.stride != 1 || channels_of(x) % 16 != 0),
      taps_(channels_of(x) % 16 == 0 ? 1 : conv.kernel * conv.kernel) {
  const Grid in = x.grid();
  const std::size_t reach = conv.kernel - 1;
  pitch_ = copies_ ? y.shape.width : in.pitch();
  terms_ = round_up((y.shape.height - 1) * pitch_ + y.shape.width, 16);
  rows_ = copies_ ? round_up(conv.kernel * conv.kernel * channels_of(x), 16) : channels_of(x);
  const std::size_t first = (in.border - conv.padding) * (in.pitch() + 1);
  plane_ = copies_ ? terms_
                   : round_up(std::max(first + reach * (in.pitch() + 1) + terms_, in.pixels()), 16);
}

WeightProducts::Memory WeightProducts::memory(Pieces& pieces) const {
  const std::size_t out = channels_of(y_), samples = x_.tiles.samples,
                    rows = taps_ == 1 ? channels_of(x_) : rows_;
  Memory memory{.planes = pieces.take<std::int8_t>(samples * rows_ * plane_),
                .quads = pieces.take<std::int8_t>(samples * terms_ * 2 * out),
                .lanes = {}};
  for (std::size_t lane = 0; lane < lanes_.count(); ++lane) {
    memory.lanes.push_back({.patches = pieces.take<std::int8_t>(copies_ ? terms_ * rows_ : 0),
                            .high = pieces.take<std::int8_t>(terms_ * out),
                            .low = pieces.take<std::int8_t>(terms_ * out),
                            .products = pieces.take<std::int32_t>(round_up(rows, 16) * 2 * out),
                            .sums = pieces.take<double>(rows * out)});
  }
  return memory;
}

/// patches[pixel][tap][channel] of sample n.
void WeightProducts::gather_patches(std::size_t n, std::int8_t* patches) const {
  const Grid grid = x_.grid();
  const std::size_t channels = channels_of(x_), kernel = conv_.kernel;
  const std::int8_t* codes = codes_of(x_, n);
  for (std::size_t y = 0; y < y_.shape.height; ++y) {
    for (std::size_t x = 0; x < y_.shape.width; ++x) {
      std::int8_t* patch = patches + (y * pitch_ + x) * rows_;
      for (std::size_t k = 0; k < kernel; ++k) {
        const auto pixel =
            static_cast<std::size_t>(grid.at(static_cast<std::ptrdiff_t>(y * conv_.stride + k) -
                                                 static_cast<std::ptrdiff_t>(conv_.padding),
                                             static_cast<std::ptrdiff_t>(x * conv_.stride) -
                                                 static_cast<std::ptrdiff_t>(conv_.padding)));
        std::memcpy(patch + k * kernel * channels, codes + pixel * channels, kernel * channels);
      }
    }
  }
}

void WeightProducts::pack(const LayerGradient& at, std::size_t n, const Memory& memory,
                          const OfLane& own) const {
  const std::size_t out = channels_of(y_), columns = 2 * out;
  std::int8_t* planes = memory.planes + n * rows_ * plane_;
  if (copies_) {
    gather_patches(n, own.patches);
    backend::cpu::to_planes(own.patches, terms_, rows_, plane_, planes);
  } else {
    backend::cpu::to_planes(codes_of(x_, n), round_up(x_.grid().pixels(), 16), channels_of(x_),
                            plane_, planes);
  }
  for (std::size_t y = 0; y < y_.shape.height; ++y) {
    at.halves(n, y, own.high + y * pitch_ * out, own.low + y * pitch_ * out);
  }
  std::int8_t* quads = memory.quads + n * terms_ * columns;
  backend::cpu::to_quads(own.high, terms_, out, columns, quads);
  backend::cpu::to_quads(own.low, terms_, out, columns, quads + 4 * out);
}

void WeightProducts::multiply(const Call& call, std::size_t tap, const Memory& memory,
                              const OfLane& own, float unit, float* gradient) const {
  const std::size_t out = channels_of(y_), columns = 2 * out, channels = channels_of(x_),
                    kernel = conv_.kernel, taps = kernel * kernel,
                    rows = taps_ == 1 ? channels : rows_;
  std::ptrdiff_t segments[kChunk];
  const std::ptrdiff_t from = copies_
                                  ? static_cast<std::ptrdiff_t>(tap * channels * plane_)
                                  : x_.grid().at(static_cast<std::ptrdiff_t>(tap / kernel) -
                                                     static_cast<std::ptrdiff_t>(conv_.padding),
                                                 static_cast<std::ptrdiff_t>(tap % kernel) -
                                                     static_cast<std::ptrdiff_t>(conv_.padding));
  for (std::size_t n = 0; n < call.count; ++n) {
    segments[n] = static_cast<std::ptrdiff_t>(n * rows_ * plane_) + from;
  }
  const std::size_t at_once = std::max<std::size_t>(1, ByteProduct::kMostTerms / terms_);
  std::fill_n(own.sums, rows * out, 0.0);
  for (std::size_t n = 0; n < call.count; n += at_once) {
    const std::size_t count = std::min(at_once, call.count - n);
    backend::cpu::multiply({.rows = rows,
                            .columns = columns,
                            .stride = plane_,
                            .segments = {segments + n, count},
                            .length = terms_},
                           memory.planes, memory.quads + n * terms_ * columns, own.products);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::int32_t *high = own.products + r * columns, *low = high + out;
      double* sums = own.sums + r * out;
      for (std::size_t o = 0; o < out; ++o) sums[o] += 256.0 * high[o] + low[o];
    }
  }
  const std::size_t in = x_.shape.channels;
  for (std::size_t o = 0; o < y_.shape.channels; ++o) {
    for (std::size_t k = 0; k < taps_; ++k) {
      const double* sums = own.sums + k * channels * out + o;
      float* to = gradient + o * in * taps + tap + k;
      for (std::size_t i = 0; i < in; ++i) {
        to[i * taps] += unit * static_cast<float>(sums[i * out]);
      }
    }
  }
}

/// The taps are computed side by side: each adds to weights of its own.
void WeightProducts::add(const Call& call, LayerGradient& at, Pieces pieces,
                         float* gradient) const {
  const Memory memory = this->memory(pieces);
  const std::size_t out = channels_of(y_);
  const float unit = at.share(x_.scales, call.count);
  for (std::size_t lane = 0; lane < std::min(lanes_.count(), call.count); ++lane) {
    const OfLane& own = memory.lanes[lane];
    std::memset(own.high, 0, terms_ * out);
    std::memset(own.low, 0, terms_ * out);
    if (copies_) std::memset(own.patches, 0, terms_ * rows_);
  }
  for_each_sample(
      lanes_, call, size_of_sample(y_).size() + size_of_sample(x_).size(),
      [&](std::size_t lane, std::size_t n) { pack(at, n, memory, memory.lanes[lane]); });
  const std::size_t count = conv_.kernel * conv_.kernel / taps_;
  const auto of_tap = [&](std::size_t lane, std::size_t t) {
    multiply(call, t * taps_, memory, memory.lanes[lane], unit, gradient);
  };
  lanes_.run(count, of_tap);
}

}  // namespace hearsay::engine::cpu::int8
