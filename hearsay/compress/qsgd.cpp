#include "hearsay/compress/qsgd.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/compress/bits.h"
#include "hearsay/compress/dense_code.h"

namespace hearsay::compress {

namespace {

float norm(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * v;
  const float result = static_cast<float>(std::sqrt(sum));
  return std::isfinite(result) ? result : std::numeric_limits<float>::quiet_NaN();
}

class Qsgd final : public Compressor {
 public:
  explicit Qsgd(const Arguments& arguments)
      : bits_(static_cast<unsigned>(arguments.integer_in_range("bits"))),
        levels_(std::ldexp(1.0, static_cast<int>(bits_)) - 1),
        unbiased_(arguments.flag("unbiased")) {}

  std::size_t compress(std::span<const float> x, const Layout& layout, const Random& random,
                       Decoded& q, Bytes* wire) const override {
    make_dense(q, x.size());
    std::vector<std::uint32_t> code(wire ? x.size() : 0);  // level, and the sign above it
    std::size_t code_bits = bits_ * x.size();
    for (const Segment& segment : layout.segments()) {
      if (segment.size == 0) continue;
      const float scale = norm(x.subspan(segment.offset, segment.size));
      if (wire) append(*wire, scale);
      const float step = step_of(scale, segment.size);
      const double per_norm = scale > 0 ? levels_ / scale : 0;  // 0 if zero or NaN
      for (std::size_t i = segment.offset; i < segment.offset + segment.size; ++i) {
        const std::uint32_t level = per_norm > 0 ? round(per_norm * std::abs(x[i]), random, i) : 0;
        const std::uint32_t minus = level > 0 && std::signbit(x[i]) ? 1 : 0;
        q.dense[i] = entry(level, minus, step);
        code_bits += level > 0 ? 1 : 0;
        if (wire) code[i] = minus << bits_ | level;
      }
    }
    if (wire) append_levels(code, code_bits, *wire);
    return scale_bytes(layout) + (code_bits + 7) / 8;
  }

  void decode(ByteReader& in, const Layout& layout, Decoded& q) const override {
    ByteReader scales(in.take(scale_bytes(layout)), in.what());
    if (in.left() < (bits_ * layout.dim() + 7) / 8) in.take((bits_ * layout.dim() + 7) / 8);
    BitReader bits(peek(in));
    make_dense(q, layout.dim());
    for (const Segment& segment : layout.segments()) {
      if (segment.size == 0) continue;
      const float step = step_of(scales.read<float>(), segment.size);
      for (std::size_t i = segment.offset; i < segment.offset + segment.size; ++i) {
        const auto level = static_cast<std::uint32_t>(bits.get(bits_));
        const auto minus = level > 0 ? static_cast<std::uint32_t>(bits.get(1)) : 0;
        q.dense[i] = entry(level, minus, step);
      }
    }
    in.take(bits.used());
  }

  Promise promise() const override {
    return unbiased_ ? Promise::kUnbiased : Promise::kContractive;
  }

  double quality(const Layout& layout) const override {
    double worst = 1;
    for (const Segment& segment : layout.segments()) worst = std::max(worst, tau(segment.size));
    return 1 / worst;
  }

  std::size_t paper_bytes(const Layout& layout) const override {
    return (bits_ * layout.dim() + 7) / 8;
  }

 private:
  double tau(std::size_t m) const {
    const double size = static_cast<double>(m);
    return 1 + std::min(size / (levels_ * levels_), std::sqrt(size) / levels_);
  }

  /// The value of level 1 in a tensor of m entries.
  float step_of(float scale, std::size_t m) const {
    return static_cast<float>(scale / (levels_ * (unbiased_ ? 1 : tau(m))));
  }

  std::uint32_t round(double t, const Random& random, std::size_t i) const {
    t = std::min(t, levels_);  // the norm is rounded to a float
    const double floor = std::floor(t);
    const bool up = to_unit_float(random.word(i)) < t - floor;
    return static_cast<std::uint32_t>(floor) + (up ? 1 : 0);
  }

  static float entry(std::uint32_t level, std::uint32_t minus, float step) {
    const float size = static_cast<float>(level) * step;
    return minus ? -size : size;
  }

  void append_levels(std::span<const std::uint32_t> code, std::size_t code_bits,
                     Bytes& wire) const {
    const std::uint32_t level_mask = (1u << bits_) - 1;
    BitPacker packer(wire, code_bits);
    for (const std::uint32_t c : code) packer.put(c, bits_ + ((c & level_mask) > 0 ? 1 : 0));
    packer.finish();
  }

  unsigned bits_;
  double levels_;  // s
  bool unbiased_;
};

}  // namespace

std::unique_ptr<Compressor> make_qsgd(const Arguments& arguments) {
  return std::make_unique<Qsgd>(arguments);
}

}  // namespace hearsay::compress
