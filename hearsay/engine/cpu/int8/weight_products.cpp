#include "hearsay/engine/cpu/int8/weight_products.h"

#include <algorithm>
#include <cstring>

#include "hearsay/backend/cpu/int8/pack.h"

namespace hearsay::engine::cpu::int8 {

using backend::cpu::ByteProduct;

WeightProducts::WeightProducts(const model::Conv2d& conv, const Tensor& x, const Tensor& y)
    : conv_(conv), x_(x), y_(y), copies_(conv.stride != 1 || channels_of(x) % 16 != 0) {
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
  const std::size_t out = channels_of(y_), samples = x_.tiles.samples;
  return {.planes = pieces.take<std::int8_t>(samples * rows_ * plane_),
          .patches = pieces.take<std::int8_t>(copies_ ? terms_ * rows_ : 0),
          .high = pieces.take<std::int8_t>(terms_ * out),
          .low = pieces.take<std::int8_t>(terms_ * out),
          .quads = pieces.take<std::int8_t>(samples * terms_ * 2 * out),
          .products = pieces.take<std::int32_t>(round_up(rows_, 16) * 2 * out),
          .sums = pieces.take<double>(rows_ * out)};
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

void WeightProducts::add(const Call& call, LayerGradient& at, Pieces pieces,
                         float* gradient) const {
  const Memory memory = this->memory(pieces);
  const std::size_t out = channels_of(y_), columns = 2 * out, channels = channels_of(x_),
                    kernel = conv_.kernel, taps = kernel * kernel;
  const float unit = at.share(x_.scales, call.count);

  std::memset(memory.high, 0, terms_ * out);
  std::memset(memory.low, 0, terms_ * out);
  if (copies_) std::memset(memory.patches, 0, terms_ * rows_);
  for (std::size_t n = 0; n < call.count; ++n) {
    if (copies_) {
      gather_patches(n, memory.patches);
      backend::cpu::to_planes(memory.patches, terms_, rows_, plane_,
                              memory.planes + n * rows_ * plane_);
    } else {
      backend::cpu::to_planes(codes_of(x_, n), round_up(x_.grid().pixels(), 16), channels, plane_,
                              memory.planes + n * rows_ * plane_);
    }
    for (std::size_t y = 0; y < y_.shape.height; ++y) {
      at.halves(n, y, memory.high + y * pitch_ * out, memory.low + y * pitch_ * out);
    }
    std::int8_t* quads = memory.quads + n * terms_ * columns;
    backend::cpu::to_quads(memory.high, terms_, out, columns, quads);
    backend::cpu::to_quads(memory.low, terms_, out, columns, quads + 4 * out);
  }

  const std::size_t at_once = std::max<std::size_t>(1, ByteProduct::kMostTerms / terms_);
  for (std::size_t t = 0; t < (copies_ ? 1 : taps); ++t) {
    std::ptrdiff_t segments[kChunk];
    const std::ptrdiff_t tap = copies_
                                   ? 0
                                   : x_.grid().at(static_cast<std::ptrdiff_t>(t / kernel) -
                                                      static_cast<std::ptrdiff_t>(conv_.padding),
                                                  static_cast<std::ptrdiff_t>(t % kernel) -
                                                      static_cast<std::ptrdiff_t>(conv_.padding));
    for (std::size_t n = 0; n < call.count; ++n) {
      segments[n] = static_cast<std::ptrdiff_t>(n * rows_ * plane_) + tap;
    }
    std::fill_n(memory.sums, rows_ * out, 0.0);
    for (std::size_t n = 0; n < call.count; n += at_once) {
      const std::size_t count = std::min(at_once, call.count - n);
      backend::cpu::multiply({.rows = rows_,
                              .columns = columns,
                              .stride = plane_,
                              .segments = {segments + n, count},
                              .length = terms_},
                             memory.planes, memory.quads + n * terms_ * columns, memory.products);
      for (std::size_t r = 0; r < rows_; ++r) {
        const std::int32_t *high = memory.products + r * columns, *low = high + out;
        double* sums = memory.sums + r * out;
        for (std::size_t o = 0; o < out; ++o) sums[o] += 256.0 * high[o] + low[o];
      }
    }
    const std::size_t in = x_.shape.channels;
    for (std::size_t o = 0; o < y_.shape.channels; ++o) {
      for (std::size_t k = copies_ ? 0 : t; k < (copies_ ? taps : t + 1); ++k) {
        const double* sums = memory.sums + (copies_ ? k * channels * out : 0) + o;
        float* to = gradient + o * in * taps + k;
        for (std::size_t i = 0; i < in; ++i) {
          to[i * taps] += unit * static_cast<float>(sums[i * out]);
        }
      }
    }
  }
}

}  // namespace hearsay::engine::cpu::int8
