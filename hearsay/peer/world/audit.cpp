#include "hearsay/peer/world/audit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hearsay::peer {

namespace {

std::string_view name_of(Movement::Kind kind) {
  switch (kind) {
    case Movement::Kind::kSent:
      return "sent";
    case Movement::Kind::kApplied:
      return "applied";
    case Movement::Kind::kReturned:
      return "taken back";
    case Movement::Kind::kPaid:
      return "paid for";
  }
  return "";
}

std::uint64_t count_of(const std::map<Audit::Lives, std::uint64_t>& counts,
                       const Audit::Lives& lives) {
  const auto found = counts.find(lives);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

void Audit::change(std::span<const float> x, double u, double sign) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    expected_[k] += sign * static_cast<double>(x[k]);
    size_[k] += std::abs(static_cast<double>(x[k]));
  }
  expected_u_ += sign * u;
}

void Audit::stepped(double lr, std::span<const float> direction) {
  for (std::size_t k = 0; k < direction.size(); ++k) {
    const double change = lr * static_cast<double>(direction[k]);
    expected_[k] -= change;
    size_[k] += std::abs(change);
  }
}

void Audit::moved(const Movement& movement) {
  using Kind = Movement::Kind;
  const Lives lives{movement.sender, movement.receiver, movement.sender_life,
                    movement.receiver_life};
  Message& message = messages_[{lives, movement.number}];
  bool* const happened[] = {&message.sent, &message.applied, &message.returned, &message.paid};
  bool& this_one = *happened[static_cast<std::size_t>(movement.kind)];
  const bool in_order = movement.kind == Kind::kSent || message.sent;
  const bool can_be_paid = movement.kind != Kind::kPaid || message.returned;
  if (fault_.empty() && (this_one || !in_order || !can_be_paid)) {
    fault_ = fmt::format("message {} from peer {} (life {}) to peer {} (life {}) was {} {}",
                         movement.number, movement.sender, movement.sender_life, movement.receiver,
                         movement.receiver_life, name_of(movement.kind),
                         this_one    ? "twice"
                         : !in_order ? "and never sent"
                                     : "and never taken back");
  }
  const bool was_owed = message.owed(), flew = message.flies();
  this_one = true;
  if (flew != message.flies()) message.flies() ? ++flying_[lives] : --flying_[lives];
  if (was_owed != message.owed()) message.owed() ? ++owed_[lives] : --owed_[lives];

  const bool leaves_a_peer = movement.kind == Kind::kSent || movement.kind == Kind::kPaid;
  const double amount = (leaves_a_peer ? 1 : -1) * static_cast<double>(movement.amount);
  outstanding_u_ += amount * movement.push_sum;
  const auto add = [&](std::size_t k, float value) {
    const double change = amount * static_cast<double>(value);
    outstanding_[k] += change;
    size_[k] += std::abs(change);
  };
  if (movement.q.dense != nullptr) {
    for (std::size_t k = 0; k < outstanding_.size(); ++k) add(k, movement.q.dense[k]);
  }
  for (std::size_t k = 0; k < movement.q.index.size(); ++k) {
    add(movement.q.index[k], movement.q.value[k]);
  }
}

void Audit::Sum::add(std::span<const float> x, double u) {
  for (std::size_t k = 0; k < x.size(); ++k) x_[k] += static_cast<double>(x[k]);
  u_ += u;
}

Audit::Drift Audit::drift(const Sum& sum) const {
  Drift drift{.u = std::abs(sum.u_ + outstanding_u_ - expected_u_)};
  for (std::size_t k = 0; k < expected_.size(); ++k) {
    const double off = std::abs(sum.x_[k] + outstanding_[k] - expected_[k]);
    drift.x = std::max(drift.x, off / std::max(1.0, size_[k]));
  }
  return drift;
}

std::uint64_t Audit::owed(const Lives& lives) const { return count_of(owed_, lives); }

std::uint64_t Audit::flying(const Lives& lives) const { return count_of(flying_, lives); }

}  // namespace hearsay::peer
