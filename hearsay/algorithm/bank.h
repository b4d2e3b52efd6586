#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/backend/kernels.h"
#include "hearsay/compress/bank_operator.h"
#include "hearsay/core/layout.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/graph/facts.h"

namespace hearsay::algorithm {

/// C applied to every row of a bank, on its device. Row i draws from the stream (seed, kRounding,
/// first + i, round).
///
/// `encodes` is set for a bank whose peers also send to other processes: payloads then also hold
/// the encoded bytes, for which the host waits.
class BankCompressor {
 public:
  BankCompressor(const compress::Compressor& compressor, const Layout& layout,
                 backend::Kernels& kernels, ThreadPool& pool, std::uint64_t seed,
                 std::uint32_t first, bool encodes = false);

  /// The payload views buffers of this object and is valid until the next call. Its lengths are
  /// available after the kernels' next `synchronize`.
  void compress(backend::ConstBlock v, std::uint32_t round, Payload& payload);

  const compress::Compressor& compressor() const { return compressor_; }

 private:
  const compress::Compressor& compressor_;
  const Layout& layout_;
  backend::Kernels& kernels_;
  std::unique_ptr<compress::BankOperator> operator_;
  bool encodes_;
};

/// The m peers first .. first + m - 1 of n that live on one device, and everything their algorithm
/// uses.
struct Bank {
  backend::Kernels& kernels;
  const Layout& layout;
  BankCompressor& compressor;
  double topk_keep = 0;       ///< fraction kept if the compressor is a top-k, else 0
  const graph::Facts& graph;  ///< spectral properties, for methods that derive a default from them
  std::size_t peers = 0;      ///< n
  std::size_t first = 0;
  std::size_t rows = 0;  ///< m

  /// Writes the initial model of any peer, including those of other banks, to x: to initialize
  /// copies of it. May be empty if the bank holds all n peers.
  std::function<void(std::uint32_t peer, std::span<float> x)> start_of{};
};

}  // namespace hearsay::algorithm
