#include "hearsay/compress/qsgd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hearsay/compress/code/bits.h"
#include "hearsay/compress/code/dense_code.h"

namespace hearsay::compress {

namespace {

float norm(std::span<const float> x) {
  const double squares = sum(x, [](double v) { return v * v; });
  const float result = static_cast<float>(std::sqrt(squares));
  return std::isfinite(result) ? result : std::numeric_limits<float>::quiet_NaN();
}

class Qsgd final : public Compressor {
 public:
  explicit Qsgd(const Arguments& arguments)
      : bits_(static_cast<unsigned>(arguments.integer_in_range("bits"))),
        levels_(std::ldexp(1.0, static_cast<int>(bits_)) - 1),
        unbiased_(arguments.flag("unbiased")) {}

  Kind kind() const override { return QsgdKind{bits_, unbiased_}; }

  std::size_t compress(std::span<const float> x, const Layout& layout, const Random& random,
                       Decoded& q, Bytes* wire) const override {
    make_dense(q, x.size());
    std::vector<std::uint32_t> code(wire ? x.size() : 0);
    std::size_t code_bits = bits_ * x.size();
    for (const Segment& segment : layout.segments()) {
      if (segment.size == 0) continue;
      const float scale = norm(x.subspan(segment.offset, segment.size));
      if (wire) append(*wire, scale);
      code_bits += quantize(x, segment, scale, random, q.dense, code);
    }
    if (wire) append_levels(code, code_bits, *wire);
    return scale_bytes(layout) + (code_bits + 7) / 8;
  }

  void decode(ByteReader& in, const Layout& layout, Decoded& q) const override {
    ByteReader scales(in.take(scale_bytes(layout)), in.what());
    ByteReader(in).take((bits_ * layout.dim() + 7) / 8);  // throws before anything is allocated
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
  double tau(std::size_t m) const { return qsgd_tau(levels_, m); }

  /// The value of level 1 in a tensor of m entries.
  float step_of(float scale, std::size_t m) const {
    return static_cast<float>(scale / (levels_ * (unbiased_ ? 1 : tau(m))));
  }

  /// Quantize one tensor of x. `code`, unless empty, receives each level with the sign bit above
  /// it. Returns the number of non-zero levels.
  std::size_t quantize(std::span<const float> x, const Segment& segment, float scale,
                       const Random& random, std::span<float> out,
                       std::span<std::uint32_t> code) const {
    const float step = step_of(scale, segment.size);
    const double per_unit = scale > 0 ? levels_ / scale : 0;  // 0 if the norm is 0 or NaN
    std::array<std::uint32_t, 4> words{};
    std::size_t nonzero = 0;
    for (std::size_t i = segment.offset; i < segment.offset + segment.size; ++i) {
      if (i % 4 == 0 || i == segment.offset) words = random.words(i / 4);
      const std::uint32_t level =
          per_unit > 0 ? round(per_unit * std::abs(x[i]), to_unit_float(words[i % 4])) : 0;
      const std::uint32_t minus = level > 0 ? sign_bit(x[i]) : 0;
      out[i] = entry(level, minus, step);
      nonzero += level > 0 ? 1 : 0;
      if (!code.empty()) code[i] = minus << bits_ | level;
    }
    return nonzero;
  }

  std::uint32_t round(double t, float uniform) const {
    t = std::min(t, levels_);  // t may exceed s, as the norm is rounded to a float
    const auto floor = static_cast<std::uint32_t>(t);
    return floor + (uniform < t - floor ? 1 : 0);
  }

  static float entry(std::uint32_t level, std::uint32_t minus, float step) {
    return flip(static_cast<float>(level) * step, minus);
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

double qsgd_tau(double levels, std::size_t m) {
  const double size = static_cast<double>(m);
  return 1 + std::min(size / (levels * levels), std::sqrt(size) / levels);
}

std::unique_ptr<Compressor> make_qsgd(const Arguments& arguments) {
  return std::make_unique<Qsgd>(arguments);
}

}  // namespace hearsay::compress
