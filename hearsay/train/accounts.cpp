#include "hearsay/train/accounts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "hearsay/compress/message.h"
#include "hearsay/core/error.h"

namespace hearsay::train {

Accounts::Accounts(Link link, graph::Schedule& schedule, std::uint64_t rounds_per_epoch,
                   std::size_t dim)
    : link_(std::move(link)),
      schedule_(schedule),
      rounds_per_epoch_(rounds_per_epoch),
      dim_(dim),
      losses_(schedule.peers(), 0.0) {}

void Accounts::gradient(std::uint64_t round, std::span<const double> losses) {
  if (!failure_.empty()) return;
  losses_.assign(losses.begin(), losses.end());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (std::isfinite(losses[i])) continue;
    failure_ = fmt::format(
        "[train] the loss of peer {} is {} in round {}; lower --lr or the "
        "averaging rate eta",
        i, std::abs(losses[i]), round);
    return;
  }
  loss_sum_ += std::accumulate(losses.begin(), losses.end(), 0.0);
  ++loss_rounds_;
}

void Accounts::step(std::uint64_t round, std::span<const double> norms) {
  if (!failure_.empty()) return;
  expect_finite(norms, "step", round);
  link_.compute(static_cast<std::uint32_t>(round));
}

void Accounts::emitted(std::span<const algorithm::Lengths> vectors) {
  emitted_ = {std::vector<std::size_t>(schedule_.peers(), 0), vectors.size(), 0};
  for (const algorithm::Lengths& vector : vectors) {
    for (std::size_t i = 0; i < schedule_.peers(); ++i) {
      emitted_.bytes[i] += compress::kHeaderBytes + vector.length(i);
    }
    emitted_.paper_bytes += vector.paper_bytes;
  }
}

void Accounts::gossip(std::uint64_t round, bool send_first) {
  if (!failure_.empty()) return;
  const graph::Weights& weights = schedule_.at(round, round / rounds_per_epoch_);
  const std::uint64_t edges = weights.edge_count();
  // A message is sent whether or not it arrives.
  for (std::size_t i = 0; i < weights.peers(); ++i) {
    traffic_.bytes += weights.out_of(i).size() * emitted_.bytes[i];
  }
  traffic_.paper_bytes += edges * emitted_.paper_bytes;
  traffic_.edge_rounds += edges;
  traffic_.messages += edges * emitted_.vectors;
  link_.gossip(weights, emitted_.bytes, send_first);
}

void Accounts::global() {
  if (!failure_.empty()) return;
  const std::size_t bytes = 4 * dim_;
  traffic_.global_bytes += 2 * (schedule_.peers() - 1) * bytes;
  link_.global(bytes);
}

void Accounts::models(std::uint64_t rounds, std::span<const double> norms) {
  if (failure_.empty()) expect_finite(norms, "model", rounds);
}

void Accounts::drift(double mass_drift) { mass_drift_ = std::max(mass_drift_, mass_drift); }

void Accounts::expect_finite(std::span<const double> norms, std::string_view what,
                             std::uint64_t round) {
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (std::isfinite(norms[i])) continue;
    failure_ = fmt::format(
        "[train] the {} of peer {} is not finite in round {}; lower --lr "
        "or the averaging rate eta",
        what, i, round);
    return;
  }
}

void Accounts::check() const {
  if (!failure_.empty()) throw RunFailed(failure_);
}

double Accounts::take_train_loss() {
  const double peers = static_cast<double>(schedule_.peers());
  if (loss_rounds_ > 0) train_loss_ = loss_sum_ / (peers * static_cast<double>(loss_rounds_));
  loss_sum_ = 0;
  loss_rounds_ = 0;
  return train_loss_;
}

void Accounts::state(backend::StateList& list) {
  list.scalar("loss_sum", loss_sum_);
  list.scalar("loss_rounds", loss_rounds_);
  list.scalar("train_loss", train_loss_);
  list.scalar("mass_drift", mass_drift_);
  list.scalar("messages", traffic_.messages);
  list.scalar("edge_rounds", traffic_.edge_rounds);
  list.scalar("bytes", traffic_.bytes);
  list.scalar("paper_bytes", traffic_.paper_bytes);
  list.scalar("global_bytes", traffic_.global_bytes);
  link_.state(list);
}

}  // namespace hearsay::train
