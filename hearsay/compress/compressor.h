#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hearsay/backend/kernels.h"
#include "hearsay/compress/kind.h"
#include "hearsay/core/bytes.h"
#include "hearsay/core/layout.h"
#include "hearsay/core/random.h"
#include "hearsay/core/registry.h"

namespace hearsay::compress {

/// C(x) as every receiver will see it, owned. Sparse operators fill index/value, others dense.
struct Decoded {
  bool sparse = false;
  std::vector<float> dense;
  std::vector<std::uint32_t> index;  ///< ascending, each once
  std::vector<float> value;

  backend::VectorView view() const {
    return sparse ? backend::VectorView{nullptr, index, value} : backend::VectorView{dense.data()};
  }
};

/// The guarantee of an operator on its error, for every x.
enum class Promise {
  kContractive,  ///< E |x - C(x)|^2 <= (1 - delta) |x|^2 with delta in (0, 1]: required by error
                 ///< feedback
  kUnbiased,     ///< E C(x) = x and E |x - C(x)|^2 <= omega |x|^2; may exceed |x|^2: diverges under
                 ///< error feedback
};

/// A lossy code for a model's floats.
///
/// Contract, checked for every row of `registry()` by tests/compress/compressor_test.cpp:
///   - `promise()` with `delta` or `omega` holds;
///   - `compress` returns the exact length of the code it appends (or would append);
///   - `decode` of that code gives the same Decoded bit for bit, and leaves the reader after it;
///   - `decode` of any other bytes succeeds or throws CorruptData, without allocating more than a
///     valid code of that layout would need;
///   - the result is a function of x and the random stream alone.
/// Non-finite input is not an error here: the output is non-finite too, so that the run fails on
/// it.
///
/// Thread safety: all members are const and may run concurrently; randomness is the caller's
/// stream.
class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Set `q` to C(x) and return the length of its code in bytes; append the code to `wire` unless
  /// null.
  virtual std::size_t compress(std::span<const float> x, const Layout& layout, const Random& random,
                               Decoded& q, Bytes* wire) const = 0;

  /// Read one code from `in` into `q`. Throws CorruptData.
  virtual void decode(ByteReader& in, const Layout& layout, Decoded& q) const = 0;

  virtual Kind kind() const { return OtherKind{}; }

  virtual Promise promise() const = 0;

  /// kContractive: delta in (0, 1], 1 is lossless. kUnbiased: 1 / (1 + omega), likewise in (0, 1].
  virtual double quality(const Layout& layout) const = 0;

  /// Bytes/message as the seed papers count them: 6k+3 for k sparse entries, the bits of quantized
  /// ones (qsgd, int8) without norms and signs, 4(d+1) for all others.
  virtual std::size_t paper_bytes(const Layout& layout) const = 0;
};

/// One row of the registry: what `hearsay list compressors`, the docs and the tests enumerate.
using Entry = Row<std::unique_ptr<Compressor>()>;

Registry<Entry> registry();

/// make_compressor("topk:keep=0.01"). Throws InvalidArgument, listing all names.
std::unique_ptr<Compressor> make_compressor(std::string_view spec);

/// The fraction of entries kept if it is a top-k (any scope and value format), else 0. int8 is one
/// that keeps all.
double topk_keep(const Compressor& compressor);

}  // namespace hearsay::compress
