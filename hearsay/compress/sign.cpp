#include "hearsay/compress/sign.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/compress/code/dense_code.h"

namespace hearsay::compress {

namespace {

/// |x|_1 / m, or NaN.
float mean_magnitude(std::span<const float> x) {
  const double mean = sum(x, [](double v) { return std::abs(v); }) / static_cast<double>(x.size());
  return std::isfinite(mean) ? static_cast<float>(mean) : std::numeric_limits<float>::quiet_NaN();
}

class Sign final : public Compressor {
 public:
  std::size_t compress(std::span<const float> x, const Layout& layout, const Random&, Decoded& q,
                       Bytes* wire) const override {
    make_dense(q, x.size());
    for (const Segment& segment : layout.segments()) {
      if (segment.size == 0) continue;
      const float scale = mean_magnitude(x.subspan(segment.offset, segment.size));
      if (wire) append(*wire, scale);
      for (std::size_t i = segment.offset; i < segment.offset + segment.size; ++i) {
        q.dense[i] = flip(scale, sign_bit(x[i]));
      }
    }
    if (wire) append_signs(x, *wire);
    return scale_bytes(layout) + (x.size() + 7) / 8;
  }

  void decode(ByteReader& in, const Layout& layout, Decoded& q) const override {
    ByteReader scales(in.take(scale_bytes(layout)), in.what());
    const ByteView signs = in.take((layout.dim() + 7) / 8);
    make_dense(q, layout.dim());
    for (const Segment& segment : layout.segments()) {
      if (segment.size == 0) continue;
      const float scale = scales.read<float>();
      for (std::size_t i = segment.offset; i < segment.offset + segment.size; ++i) {
        q.dense[i] = flip(scale, signs[i / 8] >> i % 8 & 1u);
      }
    }
  }

  Kind kind() const override { return SignKind{}; }
  Promise promise() const override { return Promise::kContractive; }

  double quality(const Layout& layout) const override {
    std::size_t largest = 1;
    for (const Segment& segment : layout.segments()) largest = std::max(largest, segment.size);
    return 1 / static_cast<double>(largest);
  }

  std::size_t paper_bytes(const Layout& layout) const override { return 4 * (layout.dim() + 1); }

 private:
  static void append_signs(std::span<const float> x, Bytes& wire) {
    for (std::size_t i = 0; i < x.size(); i += 8) {
      std::uint32_t byte = 0;
      const std::size_t n = std::min<std::size_t>(8, x.size() - i);
      for (std::size_t j = 0; j < n; ++j) byte |= sign_bit(x[i + j]) << j;
      wire.push_back(static_cast<std::uint8_t>(byte));
    }
  }
};

}  // namespace

std::unique_ptr<Compressor> make_sign(const Arguments&) { return std::make_unique<Sign>(); }

}  // namespace hearsay::compress
