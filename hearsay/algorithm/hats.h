#pragma once

#include <cassert>

#include "hearsay/algorithm/bank.h"
#include "hearsay/backend/state.h"

namespace hearsay::algorithm {

/// The public copies of models that difference compression keeps: hat_j is what every receiver
/// knows of peer j, and peer j itself follows the same decoded bytes, so all copies stay equal.
/// Every message must arrive: a lost one leaves the copies of hat_j apart for good.
///
/// One hat a peer of the bank: the bank must hold all n peers, since copies of what peers elsewhere
/// sent are not kept here.
class Hats {
 public:
  explicit Hats(const Bank& bank)
      : kernels_(bank.kernels),
        compressor_(bank.compressor),
        hats_(bank.kernels.allocate(bank.rows, bank.layout.dim())) {
    assert(bank.rows == bank.peers);
  }

  /// q = C[x - hat] goes out; `scratch` is overwritten.
  void emit_difference(backend::ConstBlock x, std::uint32_t round, backend::Block scratch,
                       Outbox& outbox) {
    kernels_.copy(x, scratch);
    kernels_.axpy(-1.0f, hats_, scratch);
    compressor_.compress(scratch, round, outbox.payloads.emplace_back());
  }

  /// hat_j += q_j for every peer that sent.
  void follow(const Exchange& exchange) {
    const std::span<const backend::VectorView> q = exchange.vectors[0];
    kernels_.accumulate(1.0f, q.first(hats_.block().rows), hats_);
  }

  /// x_i += sum_j a_ij hat_j - (own debits) hat_i.
  void mix_into(const Exchange& exchange, backend::Block x) {
    std::vector<backend::VectorView> views;
    for (std::size_t i = 0; i < hats_.block().rows; ++i) views.push_back({hats_.row(i).data()});
    kernels_.mix(exchange.mixing(), views, x);
  }

  backend::Block block() const { return hats_; }
  void state(backend::StateList& list) { list.per_peer("hats", hats_); }

 private:
  backend::Kernels& kernels_;
  BankCompressor& compressor_;
  backend::Array hats_;
};

}  // namespace hearsay::algorithm
