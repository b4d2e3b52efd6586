#pragma once

#include <algorithm>
#include <cassert>
#include <functional>
#include <span>
#include <vector>

#include "hearsay/algorithm/bank.h"
#include "hearsay/backend/state.h"

namespace hearsay::algorithm {

/// The public copies (x-hat) of models that difference compression keeps: hat_j is what every
/// receiver knows of peer j, and peer j itself applies the same decoded bytes, so all copies stay
/// equal. Every message must arrive: after a lost one the copies of hat_j differ permanently.
///
/// One hat per peer of the bank, and one per peer of another bank that sends to it: a remote
/// replica, which receives the same updates as its owner's hat and equals it bit for bit.
class PublicCopies {
 public:
  explicit PublicCopies(const Bank& bank)
      : kernels_(bank.kernels),
        compressor_(bank.compressor),
        copies_(bank.kernels.allocate(bank.rows, bank.layout.dim())) {}

  /// Keep replicas of exactly these peers (ascending). If the set changes, all replicas are
  /// reinitialized: by `start`, or to 0 if it is empty.
  void meet(std::span<const std::uint32_t> senders,
            const std::function<void(std::uint32_t peer, std::span<float> hat)>& start = {}) {
    if (std::ranges::equal(senders, replicas_.peers)) return;
    replicas_ = {.peers = {senders.begin(), senders.end()}, .rows = {}};
    if (senders.empty()) return;
    const std::size_t dim = copies_.block().dim;
    replicas_.rows = kernels_.allocate(senders.size(), dim);
    if (!start) return;
    std::vector<float> hat(dim);
    for (std::size_t k = 0; k < senders.size(); ++k) {
      start(senders[k], hat);
      kernels_.upload(hat, replicas_.rows, k);
    }
  }

  /// Set all hats to 0.
  void reset() {
    kernels_.fill(0.0f, copies_);
    if (!replicas_.rows.empty()) kernels_.fill(0.0f, replicas_.rows);
  }

  /// Sends q = C[x - hat]; `scratch` is overwritten.
  void emit_difference(backend::ConstBlock x, std::uint32_t round, backend::Block scratch,
                       Outbox& outbox) {
    kernels_.copy(x, scratch);
    kernels_.axpy(-1.0f, copies_, scratch);
    compressor_.compress(scratch, round, outbox.payloads.emplace_back());
  }

  /// hat_j += q_j for every peer that sent.
  void follow(const Exchange& exchange) {
    kernels_.accumulate(1.0f, own_of(exchange), copies_);
    if (!replicas_.rows.empty()) kernels_.accumulate(1.0f, foreign_of(exchange), replicas_.rows);
  }

  /// hat_j -= share (hat_j - q_j) for every peer that sent; `scratch`, one row per peer of the
  /// bank, is overwritten.
  void blend(float share, const Exchange& exchange, backend::Block scratch) {
    blend_rows(share, own_of(exchange), copies_, scratch);
    const std::span<const backend::VectorView> q = foreign_of(exchange);
    for (std::size_t begin = 0; begin < q.size(); begin += scratch.rows) {
      const std::size_t count = std::min(scratch.rows, q.size() - begin);
      blend_rows(share, q.subspan(begin, count), part(replicas_.rows, begin, count),
                 part(scratch, 0, count));
    }
  }

  /// x_i += sum_j a_ij hat_j - (own debits) hat_i.
  void mix_into(const Exchange& exchange, backend::Block x) {
    std::vector<backend::VectorView> views;
    for (const backend::Block& rows : {copies_.block(), replicas_.rows.block()}) {
      for (std::size_t i = 0; i < rows.rows; ++i) views.push_back({rows.row(i).data()});
    }
    kernels_.mix(exchange.mixing(), views, x);
  }

  backend::Block block() const { return copies_; }
  void state(backend::StateList& list) { list.per_peer("hats", copies_, replicas_); }

 private:
  /// What came from the bank's own peers, and from the peers with replicas.
  std::span<const backend::VectorView> own_of(const Exchange& exchange) const {
    return std::span(exchange.vectors[0]).first(copies_.block().rows);
  }
  std::span<const backend::VectorView> foreign_of(const Exchange& exchange) const {
    assert(exchange.vectors[0].size() == copies_.block().rows + replicas_.peers.size());
    return std::span(exchange.vectors[0]).subspan(copies_.block().rows);
  }

  void blend_rows(float share, std::span<const backend::VectorView> q, backend::Block hats,
                  backend::Block scratch) {
    kernels_.copy(hats, scratch);
    kernels_.accumulate(-1.0f, q, scratch);
    kernels_.axpy(-share, scratch, hats);
  }

  static backend::Block part(backend::Block rows, std::size_t begin, std::size_t count) {
    return {rows.row(begin).data(), count, rows.dim};
  }

  backend::Kernels& kernels_;
  BankCompressor& compressor_;
  backend::Array copies_;
  backend::RemoteReplicas replicas_;
};

}  // namespace hearsay::algorithm
