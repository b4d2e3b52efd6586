#include "hearsay/compress/top_k.h"

#include <algorithm>

#include "hearsay/backend/cpu/select.h"
#include "hearsay/compress/code/sparse_code.h"

namespace hearsay::compress {

namespace {

class TopK : public Compressor {
 public:
  TopK(double keep, Scope scope, ValueFormat format)
      : keep_(keep), scope_(scope), format_(format) {}

  Kind kind() const override { return TopKKind{keep_, scope_, format_}; }

  std::size_t compress(std::span<const float> x, const Layout& layout, const Random&, Decoded& q,
                       Bytes* wire) const override {
    const std::vector<Unit> all = units(layout, scope_, keep_);
    q.sparse = true;
    q.dense.clear();
    q.index.clear();
    q.value.clear();
    for (const Unit& unit : all) {
      backend::select_largest(x.subspan(unit.begin, unit.size), unit.keep,
                              static_cast<std::uint32_t>(unit.begin), q.index, q.value);
    }
    return write_sparse(all, layout.dim(), format_, q, wire);
  }

  void decode(ByteReader& in, const Layout& layout, Decoded& q) const override {
    read_sparse(in, units(layout, scope_, keep_), layout.dim(), format_, q);
  }

  Promise promise() const override { return Promise::kContractive; }

  double quality(const Layout& layout) const override {
    double delta = 1;
    for (const Unit& unit : units(layout, scope_, keep_)) {
      const double fraction = static_cast<double>(unit.keep) / static_cast<double>(unit.size);
      delta = std::min(delta, fraction * value_quality(format_, unit.keep));
    }
    return delta;
  }

  std::size_t paper_bytes(const Layout& layout) const override {
    return 6 * kept(units(layout, scope_, keep_)) + 3;
  }

 private:
  double keep_;
  Scope scope_;
  ValueFormat format_;
};

class Int8 final : public TopK {
 public:
  Int8() : TopK(1, Scope::kLayer, ValueFormat::kQ8) {}

  /// As papers count quantized entries (qsgd.h): their bits, without the scales.
  std::size_t paper_bytes(const Layout& layout) const override { return layout.dim(); }
};

}  // namespace

std::unique_ptr<Compressor> make_top_k(const Arguments& arguments) {
  return std::make_unique<TopK>(arguments.number_in_range("keep"),
                                static_cast<Scope>(arguments.choice("scope")),
                                static_cast<ValueFormat>(arguments.choice("value")));
}

std::unique_ptr<Compressor> make_int8(const Arguments&) { return std::make_unique<Int8>(); }

}  // namespace hearsay::compress
