#include "hearsay/gossip/ledger.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/compress/code/message.h"
#include "hearsay/core/error.h"

namespace hearsay::gossip {

Ledger::Ledger(Link link, const Shape& shape)
    : link_(std::move(link)),
      peers_(shape.peers),
      dim_(shape.dim),
      first_(shape.first),
      rows_(shape.rows),
      losses_(rows_, 0.0),
      loss_sums_(rows_, 0.0),
      messages_(rows_, 0),
      edge_rounds_(rows_, 0),
      bytes_(rows_, 0),
      paper_bytes_(rows_, 0) {
  if (shape.by_edge && peers_ <= Traffic::kEdgesToldOf) {
    bytes_ahead_.assign(peers_ - 1, std::vector<std::uint64_t>(rows_, 0));
  }
  assert(first_ + rows_ <= peers_);
  assert(!link_.simulated() || rows_ == peers_);
}

void Ledger::gradient(std::uint64_t round, std::span<const double> losses) {
  if (!failure_.empty()) return;
  losses_.assign(losses.begin(), losses.end());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (std::isfinite(losses[i])) continue;
    failure_ = fmt::format("[train] the loss of peer {} is {} in round {}{}", first_ + i,
                           std::abs(losses[i]), round, kLowerRate);
    return;
  }
  for (std::size_t i = 0; i < losses.size(); ++i) loss_sums_[i] += losses[i];
  ++loss_rounds_;
}

void Ledger::step(std::uint64_t round, std::span<const double> norms) {
  if (!failure_.empty()) return;
  expect_finite(norms, "step", round);
  link_.compute(static_cast<std::uint32_t>(round));
}

void Ledger::emitted(std::span<const compress::Lengths> vectors) {
  emitted_ = {std::vector<std::size_t>(rows_, 0), vectors.size(), 0};
  for (const compress::Lengths& vector : vectors) {
    for (std::size_t i = 0; i < rows_; ++i) {
      emitted_.bytes[i] += compress::kHeaderBytes + vector.length(i);
    }
    emitted_.paper_bytes += vector.paper_bytes;
  }
}

void Ledger::gossip(const graph::Weights& weights, bool send_first) {
  if (!failure_.empty()) return;
  // Lost messages count too.
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::uint64_t edges = weights.out_of(first_ + i).size();
    messages_[i] += edges * emitted_.vectors;
    edge_rounds_[i] += edges;
    bytes_[i] += edges * emitted_.bytes[i];
    paper_bytes_[i] += edges * emitted_.paper_bytes;
    if (bytes_ahead_.empty()) continue;
    for (const graph::Edge& edge : weights.out_of(first_ + i)) {
      const std::size_t ahead = (edge.receiver + peers_ - edge.sender) % peers_;
      bytes_ahead_[ahead - 1][i] += emitted_.bytes[i];
    }
  }
  link_.gossip(weights, emitted_.bytes, send_first);
}

void Ledger::global() {
  if (!failure_.empty()) return;
  const std::size_t bytes = 4 * dim_;
  global_bytes_ += 2 * (peers_ - 1) * bytes;
  link_.global(bytes);
}

void Ledger::models(std::uint64_t rounds, std::span<const double> norms) {
  if (failure_.empty()) expect_finite(norms, "model", rounds);
}

void Ledger::drift(double mass_drift) { mass_drift_ = std::max(mass_drift_, mass_drift); }

void Ledger::expect_finite(std::span<const double> norms, std::string_view what,
                           std::uint64_t round) {
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (std::isfinite(norms[i])) continue;
    failure_ = fmt::format("[train] the {} of peer {} is not finite in round {}{}", what,
                           first_ + i, round, kLowerRate);
    return;
  }
}

void Ledger::check() const {
  if (!failure_.empty()) throw NotFinite(failure_);
}

PeerTotals Ledger::totals(std::size_t row) const {
  PeerTotals totals{.loss_sum = loss_sums_[row],
                    .traffic = {.messages = messages_[row],
                                .edge_rounds = edge_rounds_[row],
                                .bytes = bytes_[row],
                                .paper_bytes = paper_bytes_[row]}};
  for (const auto& rows : bytes_ahead_) totals.bytes_ahead.push_back(rows[row]);
  return totals;
}

RunTotals Ledger::run_totals() const {
  RunTotals run{.dim = dim_,
                .loss_rounds = loss_rounds_,
                .last_train_loss = train_loss_,
                .mass_drift = mass_drift_,
                .global_bytes = global_bytes_};
  if (link_.simulated()) run.simulated_seconds = link_.seconds();
  return run;
}

Traffic Ledger::traffic() const {
  Traffic sum{.global_bytes = global_bytes_};
  for (std::size_t i = 0; i < rows_; ++i) {
    sum.messages += messages_[i];
    sum.edge_rounds += edge_rounds_[i];
    sum.bytes += bytes_[i];
    sum.paper_bytes += paper_bytes_[i];
  }
  return sum;
}

void Ledger::evaluated(double train_loss) {
  train_loss_ = train_loss;
  loss_sums_.assign(rows_, 0.0);
  loss_rounds_ = 0;
}

void Ledger::state(backend::StateList& list) {
  list.per_peer("loss_sums", loss_sums_);
  list.scalar("loss_rounds", loss_rounds_);
  list.scalar("train_loss", train_loss_);
  list.scalar("mass_drift", mass_drift_);
  list.per_peer("messages", messages_);
  list.per_peer("edge_rounds", edge_rounds_);
  list.per_peer("bytes", bytes_);
  list.per_peer("paper_bytes", paper_bytes_);
  for (std::size_t k = 0; k < bytes_ahead_.size(); ++k) {
    list.per_peer(fmt::format("bytes_ahead_{}", k + 1), bytes_ahead_[k]);
  }
  list.scalar("global_bytes", global_bytes_);
  if (link_.simulated()) link_.state(list);
}

}  // namespace hearsay::gossip
