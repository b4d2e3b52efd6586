// In the place of the CUDA compressors where this build has none.
#include "hearsay/compress/bank_operator.h"
#include "hearsay/core/error.h"

namespace hearsay::compress {

std::unique_ptr<BankOperator> make_cuda_bank_operator(const BankOperatorParts&) {
  throw InvalidArgument("[device] this build has no CUDA backend");
}

}  // namespace hearsay::compress
