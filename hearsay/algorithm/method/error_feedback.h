#pragma once

#include "hearsay/algorithm/bank.h"
#include "hearsay/backend/state.h"

namespace hearsay::algorithm {

/// Compression with memory: what a message leaves out is added to the next one.
///
///   v = x + delta,   q = C[v],   delta = v - q
///
/// C must be contractive: under an unbiased operator delta grows without bound.
class ErrorFeedback {
 public:
  explicit ErrorFeedback(const Bank& bank)
      : kernels_(bank.kernels),
        compressor_(bank.compressor),
        delta_(bank.kernels.allocate(bank.rows, bank.layout.dim())) {}

  void emit(backend::ConstBlock x, std::uint32_t round, Outbox& outbox) {
    kernels_.axpy(1.0f, x, delta_);
    Payload& q = outbox.payloads.emplace_back();
    compressor_.compress(delta_, round, q);
    kernels_.accumulate(-1.0f, q.rows, delta_);
  }

  void state(backend::StateList& list) { list.per_peer("delta", delta_); }

 private:
  backend::Kernels& kernels_;
  BankCompressor& compressor_;
  backend::Array delta_;
};

}  // namespace hearsay::algorithm
