// Your own compressor: every entry becomes the nearest power of two, one byte each.
//
// The relative error of an entry is at most 1/3 (1.5 becomes 1 or 2), so |x - C(x)|^2 <= |x|^2 / 9:
// the operator is contractive with delta = 8/9, and every method that compresses can use it. CHOCO
// takes its averaging rate from delta. Four peers train the digits with a quarter of the bytes.

#include <fmt/core.h>

#include <cmath>

#include "hearsay/train/trainer.h"

namespace compress = hearsay::compress;
namespace train = hearsay::train;

namespace {

class PowersOfTwo : public compress::Compressor {
 public:
  std::size_t compress(std::span<const float> x, const hearsay::Layout&, const hearsay::Random&,
                       compress::Decoded& q, hearsay::Bytes* wire) const override {
    q.sparse = false;
    q.dense.resize(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::uint8_t code = encode(x[k]);
      q.dense[k] = value_of(code);
      if (wire) wire->push_back(code);
    }
    return x.size();
  }

  void decode(hearsay::ByteReader& in, const hearsay::Layout& layout,
              compress::Decoded& q) const override {
    q.sparse = false;
    q.dense.clear();
    for (const std::uint8_t code : in.take(layout.dim())) q.dense.push_back(value_of(code));
  }

  compress::Promise promise() const override { return compress::Promise::kContractive; }
  double quality(const hearsay::Layout&) const override { return 8.0 / 9; }
  std::size_t paper_bytes(const hearsay::Layout& layout) const override { return layout.dim(); }

 private:
  /// Bit 7: the sign. The rest: 0 for 0, 127 for what is not finite, else the exponent + 90.
  static std::uint8_t encode(float x) {
    const std::uint8_t sign = std::signbit(x) ? 128 : 0;
    if (!std::isfinite(x)) return sign | 127;
    int exponent = 0;
    const float share = std::frexp(std::abs(x), &exponent);  // in [0.5, 1)
    if (share >= 0.75f) ++exponent;
    if (share == 0 || exponent < -89) return sign;
    return sign | static_cast<std::uint8_t>(std::min(exponent + 90, 126));
  }
  static float value_of(std::uint8_t code) {
    const int number = code & 127;
    float size = number == 0 ? 0.0f : std::ldexp(0.5f, number - 90);
    if (number == 127) size = INFINITY;
    return code & 128 ? -size : size;
  }
};

train::Metrics trained(const std::string& algorithm, const train::RunParts& parts) {
  const train::RunOptions options{.graph = "ring",
                                  .algorithm = algorithm,
                                  .compressor = parts.compressor ? "powers-of-two" : "identity",
                                  .model = "logistic",
                                  .epochs = 20};
  train::Trainer trainer(train::resolve(options, parts), parts);
  while (trainer.round() < trainer.total_rounds()) trainer.run_round(false);
  const train::Metrics metrics = trainer.evaluate();
  fmt::print("{:<6} {:<14} {:.2f} % accuracy, {:8} bytes\n", algorithm, options.compressor,
             *metrics.find("accuracy")->mean, metrics.traffic.bytes);
  return metrics;
}

}  // namespace

int main() {
  const train::Metrics full = trained("dsgd", {});
  const train::Metrics own =
      trained("choco", {.compressor = [] { return std::make_unique<PowersOfTwo>(); }});
  const double lost = *full.find("accuracy")->mean - *own.find("accuracy")->mean;
  return lost < 2 && own.traffic.bytes * 3 < full.traffic.bytes ? 0 : 1;
}
