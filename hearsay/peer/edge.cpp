#include "hearsay/peer/edge.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::peer {

namespace {

constexpr double kStuckSeconds = 10;
constexpr std::uint64_t kStuckRounds = 3;

/// Bit `highest - number` of `bits`; false beyond the window.
bool bit(std::uint64_t bits, std::uint64_t highest, std::uint64_t number) {
  const std::uint64_t back = highest - number;
  return number <= highest && back < Edge::kWindow && (bits >> back & 1) != 0;
}

}  // namespace

void Edge::describe(net::Hello& hello) const {
  hello.known = incarnation_;
  hello.next = next_;
  hello.highest = highest_;
  hello.arrived = arrived_;
  hello.refused = refused_;
}

void Edge::up(const net::Hello& theirs, std::uint64_t own) {
  down();
  const bool knows_this_life = theirs.known == own;
  if (theirs.incarnation != incarnation_) {
    forget();
  } else {
    settle(theirs, knows_this_life);
  }
  incarnation_ = theirs.incarnation;
  up_ = true;
  // Who does not know this life counts for an earlier one, and will begin at 1.
  if (!knows_this_life || theirs.next == 0 || theirs.next - 1 < highest_) return;
  advance(theirs.next - 1);
  refused_ = ~arrived_;
}

void Edge::down() {
  up_ = false;
  for (SentMessage& message : unacked_) {
    if (!controls_.take_back) continue;
    returned_.push_back(message);
    kept_.push_back(std::move(message));
  }
  unacked_.clear();
  unacked_bytes_ = 0;
}

/// What arrived is owed. The rest counts as never sent: the other refuses it from now on. One that
/// does not know this life has had nothing from it.
void Edge::settle(const net::Hello& theirs, bool knows_this_life) {
  for (SentMessage& message : kept_) {
    const Fate fate = Edge::fate(message.number, theirs.highest, theirs.arrived, theirs.refused);
    const bool arrived = knows_this_life && fate == Fate::kArrived;
    if (arrived && controls_.settle) owed_.push_back(std::move(message));
  }
  kept_.clear();
}

void Edge::forget() {
  kept_.clear();
  owed_.clear();  // its receiver has died with it
  next_ = 1;
  highest_ = arrived_ = refused_ = 0;
}

bool Edge::has_room(std::size_t bytes) const {
  if (!up_ || unacked_.size() >= kMostUnacked) return false;
  if (unacked_.empty()) return true;
  return unacked_bytes_ + bytes <= kMostUnackedBytes && next_ - unacked_.front().number < kWindow;
}

const SentMessage& Edge::send(SentMessage message) {
  message.number = next_++;
  message.life = incarnation_;
  message.last_sent = message.first_sent;
  unacked_bytes_ += message.bytes();
  return unacked_.emplace_back(std::move(message));
}

Edge::Fate Edge::fate(std::uint64_t number, std::uint64_t highest, std::uint64_t arrived,
                      std::uint64_t refused) {
  if (bit(refused, highest, number)) return Fate::kRefused;
  return bit(arrived, highest, number) ? Fate::kArrived : Fate::kUnknown;
}

void Edge::acked(const net::Ack& ack) {
  if (ack.highest >= next_) {
    throw CorruptData(fmt::format("[ack] of message {}, and {} were sent", ack.highest, next_ - 1));
  }
  std::deque<SentMessage> still;
  for (SentMessage& message : unacked_) {
    const Fate fate = Edge::fate(message.number, ack.highest, ack.seen, ack.refused);
    if (fate == Fate::kUnknown) {
      still.push_back(std::move(message));
      continue;
    }
    unacked_bytes_ -= message.bytes();
    if (fate == Fate::kRefused) returned_.push_back(std::move(message));
  }
  unacked_ = std::move(still);
}

std::vector<const SentMessage*> Edge::overdue(double now, double patience) {
  std::vector<const SentMessage*> due;
  for (SentMessage& message : unacked_) {
    if (now - message.last_sent < patience) continue;
    message.last_sent = now;
    due.push_back(&message);
  }
  return due;
}

bool Edge::is_stuck(double now, std::uint64_t rounds) const {
  return std::ranges::any_of(unacked_, [&](const SentMessage& message) {
    return now - message.first_sent > kStuckSeconds && rounds >= message.rounds + kStuckRounds;
  });
}

Edge::Arrival Edge::arrival(std::uint64_t number) const {
  if (number == 0 || number > highest_ + kWindow) {
    throw CorruptData(fmt::format("[data] message {} is beyond the window: the highest was {}",
                                  number, highest_));
  }
  if (number > highest_) return Arrival::kNew;
  const bool seen = highest_ - number >= kWindow || bit(arrived_ | refused_, highest_, number);
  return seen && controls_.dedupe ? Arrival::kDuplicate : Arrival::kNew;
}

void Edge::mark(std::uint64_t number, bool refused) {
  if (number > highest_) advance(number);
  const std::uint64_t back = highest_ - number;
  if (back >= kWindow) return;
  (refused ? refused_ : arrived_) |= std::uint64_t{1} << back;
}

void Edge::advance(std::uint64_t highest) {
  const std::uint64_t by = highest - highest_;
  arrived_ = by < kWindow ? arrived_ << by : 0;
  refused_ = by < kWindow ? refused_ << by : 0;
  highest_ = highest;
}

}  // namespace hearsay::peer
