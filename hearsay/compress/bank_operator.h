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
/// Results are the Compressor's, bit for bit, on every device; of qsgd as far as norms, which a GPU
/// sums in another order, round to the same floats.
class BankOperator {
 public:
  virtual ~BankOperator() = default;

  /// q[i] views C(v_i), on the device, until the next call. bytes[i], room from Kernels::results,
  /// becomes the length of its code.
  virtual void compress(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
                        std::vector<backend::VectorView>& q) = 0;

  /// The same, and wire[i] becomes the code. Waits for the device.
  virtual void encode(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
                      std::vector<backend::VectorView>& q, std::vector<Bytes>& wire) = 0;
};

/// What a BankOperator is made of. The references must outlive it.
struct BankOperatorParts {
  backend::Kernels& kernels;
  const Compressor& compressor;
  const Layout& layout;
  ThreadPool& pool;
  std::uint64_t seed = 0;
  std::uint32_t first = 0;
};

std::unique_ptr<BankOperator> make_bank_operator(const BankOperatorParts& parts);

/// The GPU's: parts.kernels are its.
std::unique_ptr<BankOperator> make_cuda_bank_operator(const BankOperatorParts& parts);

}  // namespace hearsay::compress
