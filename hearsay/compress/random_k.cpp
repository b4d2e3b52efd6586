#include "hearsay/compress/random_k.h"

#include <bit>

#include "hearsay/compress/code/sparse_code.h"

namespace hearsay::compress {

void draw_subset(std::size_t n, std::size_t k, Random random, std::vector<std::uint32_t>& out) {
  // Floyd 1987: the j-th draw is below j; a number drawn before is replaced by j itself.
  std::vector<std::uint64_t> drawn(n / 64 + 1);
  const auto bit = [](std::size_t i) { return std::uint64_t{1} << i % 64; };
  for (std::size_t j = n - k; j < n; ++j) {
    const std::size_t t = random.below(j + 1);
    const std::size_t chosen = drawn[t / 64] & bit(t) ? j : t;
    drawn[chosen / 64] |= bit(chosen);
  }
  for (std::size_t word = 0; word < drawn.size(); ++word) {
    for (std::uint64_t left = drawn[word]; left != 0; left &= left - 1) {
      out.push_back(static_cast<std::uint32_t>(64 * word + std::countr_zero(left)));
    }
  }
}

namespace {

class RandomK final : public Compressor {
 public:
  explicit RandomK(const Arguments& arguments)
      : keep_(arguments.number_in_range("keep")), scaled_(arguments.flag("scale")) {}

  Kind kind() const override { return RandomKKind{keep_, scaled_}; }

  std::size_t compress(std::span<const float> x, const Layout& layout, const Random& random,
                       Decoded& q, Bytes* wire) const override {
    const std::vector<Unit> all = units(layout, Scope::kModel, keep_);
    q.sparse = true;
    q.dense.clear();
    q.index.clear();
    q.value.clear();
    for (const Unit& unit : all) draw_subset(unit.size, unit.keep, random, q.index);
    const double factor = scaled_ ? 1 / quality(layout) : 1;
    for (const std::uint32_t i : q.index) q.value.push_back(static_cast<float>(factor * x[i]));
    return write_sparse(all, layout.dim(), ValueFormat::kF32, q, wire);
  }

  void decode(ByteReader& in, const Layout& layout, Decoded& q) const override {
    read_sparse(in, units(layout, Scope::kModel, keep_), layout.dim(), ValueFormat::kF32, q);
  }

  Promise promise() const override { return scaled_ ? Promise::kUnbiased : Promise::kContractive; }

  double quality(const Layout& layout) const override {
    const std::size_t d = layout.dim();
    return d == 0 ? 1 : static_cast<double>(kept(keep_, d)) / static_cast<double>(d);
  }

  std::size_t paper_bytes(const Layout& layout) const override {
    return 6 * kept(keep_, layout.dim()) + 3;
  }

 private:
  double keep_;
  bool scaled_;
};

}  // namespace

std::unique_ptr<Compressor> make_random_k(const Arguments& arguments) {
  return std::make_unique<RandomK>(arguments);
}

}  // namespace hearsay::compress
