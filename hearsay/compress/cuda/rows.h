#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hearsay/backend/cuda/context.h"
#include "hearsay/compress/kind.h"
#include "hearsay/core/layout.h"

namespace hearsay::compress::cuda {

/// An operator for all rows of a block on the GPU: same results and codes as the Compressor it
/// stands for (qsgd: as far as the norms, summed in another order, round to the same float).
/// Launches go to the context's launch recorder.
class Rows {
 public:
  virtual ~Rows() = default;

  /// q[i] views C of row i of `v`, `rows` times the layout's floats, until the next call. bytes[i],
  /// host memory that the device writes to, becomes the length of its code. `coded`: `encode` will
  /// be called.
  virtual void compress(const float* v, std::size_t rows, std::uint32_t round,
                        std::span<std::uint64_t> bytes, std::vector<backend::VectorView>& q,
                        bool coded) = 0;

  /// More bytes than any code has.
  virtual std::size_t most_bytes() const = 0;

  /// Write the code of row i of the last `compress` to the words from words + i * stride on, which
  /// are zero.
  virtual void encode(std::uint32_t* words, std::size_t stride) = 0;
};

/// Where the random numbers of row i come from: the stream (seed, kRounding, first + i, round).
struct Streams {
  std::uint64_t seed = 0;
  std::uint32_t first = 0;
};

using backend::cuda::Context;

std::unique_ptr<Rows> make_top_k(Context&, const TopKKind&, const Layout&);
std::unique_ptr<Rows> make_random_k(Context&, const RandomKKind&, const Layout&, const Streams&);
std::unique_ptr<Rows> make_identity(Context&, const Layout&);
std::unique_ptr<Rows> make_qsgd(Context&, const QsgdKind&, const Layout&, const Streams&);
std::unique_ptr<Rows> make_sign(Context&, const Layout&);

}  // namespace hearsay::compress::cuda
