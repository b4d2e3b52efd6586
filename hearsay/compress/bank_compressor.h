#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/compress/compressor.h"
#include "hearsay/compress/payload.h"

namespace hearsay {
class ThreadPool;
}

namespace hearsay::compress {

/// A Compressor applied to every row of a bank, on its device. Row i draws from the stream (seed,
/// kRounding, first + i, round).
///
/// Results are bitwise those of the Compressor on every device; for qsgd, only if the norms, which
/// a GPU sums in another order, round to the same floats. A GPU has kernels for the operators of
/// the registry; any other one runs on the host, and the rows are copied there and back.
class BankCompressor {
 public:
  /// The references must outlive the object.
  struct Parts {
    backend::Kernels& kernels;
    const Compressor& compressor;
    const Layout& layout;
    ThreadPool& pool;
    std::uint64_t seed = 0;
    std::uint32_t first = 0;
    /// Whether payloads also hold the codes, for which the host waits: some go to other processes.
    bool encodes = false;
  };

  virtual ~BankCompressor() = default;

  /// `payload` becomes C(v_i) for every row i: views of buffers of this object, valid until the
  /// next call. Its lengths are valid after the kernels' next `synchronize`.
  void compress(backend::ConstBlock v, std::uint32_t round, Payload& payload);

  const Compressor& compressor() const { return parts_.compressor; }

 protected:
  explicit BankCompressor(const Parts& parts) : parts_(parts) {}

  /// q[i] becomes a view of C(v_i) on the device, and bytes[i], in a buffer from Kernels::results,
  /// the length of its code. If `codes` is not null, codes[i] becomes the code, and the call waits
  /// for the device.
  virtual void run(backend::ConstBlock v, std::uint32_t round, std::span<std::uint64_t> bytes,
                   std::vector<backend::VectorView>& q, std::vector<Bytes>* codes) = 0;

  const Parts parts_;
};

std::unique_ptr<BankCompressor> make_bank_compressor(const BankCompressor::Parts& parts);

/// The GPU's; parts.kernels must be CUDA kernels, and the operator one that they have (kind.h).
std::unique_ptr<BankCompressor> make_cuda_bank_compressor(const BankCompressor::Parts& parts);

}  // namespace hearsay::compress
