// In the place of the CUDA compressors where this build has none.
#include "hearsay/compress/bank_compressor.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {

std::unique_ptr<BankCompressor> make_cuda_bank_compressor(const BankCompressor::Parts&) {
  throw InvalidArgument("[device] this build has no CUDA backend");
}

}  // namespace hearsay::compress
