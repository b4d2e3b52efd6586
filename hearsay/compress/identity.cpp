#include "hearsay/compress/identity.h"

namespace hearsay::compress {

namespace {

class Identity final : public Compressor {
 public:
  std::size_t compress(std::span<const float> x, const Layout&, const Random&, Decoded& q,
                       Bytes* wire) const override {
    q.sparse = false;
    q.index.clear();
    q.value.clear();
    q.dense.assign(x.begin(), x.end());
    if (wire) append(*wire, x);
    return x.size_bytes();
  }

  void decode(ByteReader& in, const Layout& layout, Decoded& q) const override {
    ByteReader floats(in.take(sizeof(float) * layout.dim()), in.what());
    q.sparse = false;
    q.index.clear();
    q.value.clear();
    q.dense.resize(layout.dim());
    floats.read<float>(q.dense);
  }

  Kind kind() const override { return IdentityKind{}; }
  Promise promise() const override { return Promise::kContractive; }
  double quality(const Layout&) const override { return 1; }
  std::size_t paper_bytes(const Layout& layout) const override { return 4 * (layout.dim() + 1); }
};

}  // namespace

std::unique_ptr<Compressor> make_identity(const Arguments&) { return std::make_unique<Identity>(); }

}  // namespace hearsay::compress
