#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/backend/kernels.h"
#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

/// A Compressor applied to every row of a block, on the device of its kernels. Row i draws from the
/// stream (seed, kRounding, first + i, round).
///
/// Results are bitwise those of the Compressor on every device; for qsgd, only if the norms, which
/// a GPU sums in another order, round to the same floats.
class BankOperator {
 public:
  virtual ~BankOperator() = default;

  /// q[i] becomes a view of C(v_i) on the device, valid until the next call. bytes[i], in a buffer
  /// from Kernels::results, becomes the length of its code.
  virtual void compress(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
                        std::vector<backend::VectorView>& q) = 0;

  /// The same, and wire[i] becomes the code. Waits for the device.
  virtual void encode(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
                      std::vector<backend::VectorView>& q, std::vector<Bytes>& wire) = 0;
};

/// The inputs of a BankOperator. The references must outlive it.
struct BankOperatorParts {
  backend::Kernels& kernels;
  const Compressor& compressor;
  const Layout& layout;
  ThreadPool& pool;
  std::uint64_t seed = 0;
  std::uint32_t first = 0;
};

std::unique_ptr<BankOperator> make_bank_operator(const BankOperatorParts& parts);

/// The GPU's; parts.kernels must be CUDA kernels.
std::unique_ptr<BankOperator> make_cuda_bank_operator(const BankOperatorParts& parts);

}  // namespace hearsay::compress
