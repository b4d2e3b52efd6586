#pragma once

#include <cstddef>
#include <cstdint>

/// The vector loops of networks in 8 bits, over one sample: quantization (engine/quantize.h has the
/// formulas) and Range EvoNorm with a hard gate. Every entry is computed alone and sums are over
/// the pixels of one channel in order, without fused multiply-add: all instruction sets give the
/// same bits.
///
/// An image is stored by pixel, all channels of a pixel together, their number a multiple of 16;
/// pixels may have unused ones between rows.
namespace hearsay::backend::cpu {

struct ImageSize {
  std::size_t rows = 0, columns = 0, channels = 0;
  std::size_t pixels() const { return rows * columns; }
  std::size_t size() const { return pixels() * channels; }
};

/// An image whose rows begin `pitch` entries apart.
template <class T>
struct Image {
  T* data = nullptr;
  std::size_t pitch = 0;
};

/// The largest magnitude; of floats NaN if there is one.
std::int32_t magnitude(Image<const std::int32_t> x, const ImageSize& size);
float magnitude(Image<const float> x, const ImageSize& size);

/// Q8 and Q16, with engine::factor_of.
void to_codes(Image<const std::int32_t> x, const ImageSize& size, float factor,
              Image<std::int8_t> codes);
void to_codes(Image<const float> x, const ImageSize& size, float factor, Image<std::int8_t> codes);
void to_codes(Image<const float> x, const ImageSize& size, float factor, Image<std::int16_t> codes);

/// SR8: codes from g and as many random bytes.
void round_randomly(const std::int16_t* g, const std::uint8_t* random, std::size_t size,
                    std::int8_t* codes);

/// The halves of g, brought to another unit (engine::shared).
void to_halves(const std::int16_t* g, std::int32_t share, std::size_t size, std::int8_t* high,
               std::int8_t* low);

/// x = codes (or sums) times `scale`, added to y if `add`.
void to_floats(Image<const std::int8_t> codes, const ImageSize& size, float scale, bool add,
               Image<float> y);
void to_floats(Image<const std::int32_t> sums, const ImageSize& size, float scale, bool add,
               Image<float> y);

/// y = sums times `scale` plus the channel's bias. Returns the magnitude of y.
float add_bias(Image<const std::int32_t> sums, const ImageSize& size, float scale,
               const float* bias, Image<float> y);

}  // namespace hearsay::backend::cpu
