#include "hearsay/engine/cpu/int8/layer_gradient.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "hearsay/backend/cpu/philox.h"

namespace hearsay::engine::cpu::int8 {

void LayerGradient::take(Pieces& pieces, std::size_t lanes) {
  codes_ = pieces.take<std::int16_t>(y_->tiles.samples * size().size());
  random_ = pieces.take<std::uint32_t>(lanes * size().size() / 4);
}

void LayerGradient::quantize(const Call& call, std::size_t lane, std::size_t n,
                             Image<const float> d) {
  const float m = backend::cpu::magnitude(d, size());
  const std::size_t entries = size().size();
  backend::cpu::to_codes(
      d, size(), factor_of(m, kTop16),
      Image<std::int16_t>{codes_ + n * entries, size().columns * size().channels});
  scales_[n] = scale_of(m, 1, kTop16);
  assert(call.key != nullptr);
  const std::uint64_t block = (std::uint64_t{operation_} << 36) + (call.first + n) * entries / 16;
  backend::cpu::random_words(call.key->stream(Purpose::kQuantize), block,
                             {random_of(lane), entries / 4});
}

void LayerGradient::round_row(std::size_t lane, std::size_t n, std::size_t row,
                              std::int8_t* codes) const {
  const std::size_t length = size().columns * size().channels;
  const auto* random = reinterpret_cast<const std::uint8_t*>(random_of(lane)) + row * length;
  backend::cpu::round_randomly(row_of(n, row), random, length, codes);
}

float LayerGradient::share(const float* input_scales, std::size_t count) {
  float r[kChunk], most = 0;
  for (std::size_t n = 0; n < count; ++n) {
    r[n] = input_scales[n] * scales_[n];
    if (!(r[n] <= most)) most = r[n];   // NaN too
    if (std::isnan(most)) return most;  // and so are all gradients
  }
  for (std::size_t n = 0; n < count; ++n) shares_[n] = share_of(r[n], most);
  return most;
}

void LayerGradient::halves(std::size_t n, std::size_t row, std::int8_t* high,
                           std::int8_t* low) const {
  backend::cpu::to_halves(row_of(n, row), shares_[n], size().columns * size().channels, high, low);
}

void add_bias_gradient(const Lanes& lanes, const Call& call, const Tensor& y, float* dy,
                       float* gradient) {
  constexpr std::size_t kEach = 16;
  const ImageSize size = size_of_sample(y);
  lanes.run(size.channels / kEach, [&](std::size_t, std::size_t block) {
    const std::size_t end = std::min(y.shape.channels, (block + 1) * kEach);
    for (std::size_t n = 0; n < call.count; ++n) {
      const Image<float> d = gradient_of(y, dy, n);
      for (std::size_t c = block * kEach; c < end; ++c) {
        double sum = 0;
        for (std::size_t row = 0; row < size.rows; ++row) {
          for (std::size_t x = 0; x < size.columns; ++x) {
            sum += static_cast<double>(d.data[row * d.pitch + x * size.channels + c]);
          }
        }
        gradient[c] += static_cast<float>(sum);
      }
    }
  });
}

}  // namespace hearsay::engine::cpu::int8
