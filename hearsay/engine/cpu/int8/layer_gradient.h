#pragma once

#include "hearsay/engine/cpu/int8/step.h"
#include "hearsay/engine/cpu/int8/values.h"

namespace hearsay::engine::cpu::int8 {

/// The gradient of a layer's output in 16 bits (Q16, a scale per sample), for a chunk of samples.
class LayerGradient {
 public:
  /// y: the layer's output, f32 or quantized.
  LayerGradient(const Tensor& y, std::size_t operation) : y_(&y), operation_(operation) {}

  /// Takes its memory for one call of backward on that many lanes.
  void take(Pieces& pieces, std::size_t lanes);

  /// Of sample n, whose gradient is d, in floats.
  void quantize(const Call& call, std::size_t lane, std::size_t n, Image<const float> d);

  /// SR8 of row y of sample n; entries in the order row, column, padded channel. `quantize` of the
  /// same sample comes before, on the same lane.
  void round_row(std::size_t lane, std::size_t n, std::size_t row, std::int8_t* codes) const;
  /// The scale of these codes.
  float rounded_scale(std::size_t n) const { return 256 * scales_[n]; }

  /// The common unit R of the samples' products with an input of those scales. Sets the shares that
  /// `halves` uses.
  float share(const float* input_scales, std::size_t count);
  /// The halves of row y of sample n, in that unit.
  void halves(std::size_t n, std::size_t row, std::int8_t* high, std::int8_t* low) const;

 private:
  ImageSize size() const { return size_of_sample(*y_); }
  const std::int16_t* row_of(std::size_t n, std::size_t row) const {
    return codes_ + n * size().size() + row * size().columns * size().channels;
  }

  std::uint32_t* random_of(std::size_t lane) const { return random_ + lane * size().size() / 4; }

  const Tensor* y_;
  std::size_t operation_;
  std::int16_t* codes_ = nullptr;
  std::uint32_t* random_ = nullptr;  ///< for the sample that each lane quantized last
  float scales_[kChunk] = {};
  std::int32_t shares_[kChunk] = {};
};

/// Adds the sums over the pixels of the gradient of y, sample by sample, to that of the biases.
void add_bias_gradient(const Lanes& lanes, const Call& call, const Tensor& y, float* dy,
                       float* gradient);

}  // namespace hearsay::engine::cpu::int8
