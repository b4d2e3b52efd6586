#include "hearsay/transport/rounds.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::transport {

void Rounds::sends(std::uint32_t round) { sent_ = std::max(sent_.value_or(round), round); }

void Rounds::expects(std::uint32_t round) const {
  if ((sent_ && round <= *sent_) || (asked_ && round <= *asked_)) {
    throw InvalidArgument(fmt::format(
        "[transport] round {} has begun; messages are expected before anything is sent or received "
        "in their round",
        round));
  }
}

bool Rounds::asks(std::uint32_t round) {
  if (asked_ && round < *asked_) {
    throw InvalidArgument(
        fmt::format("[transport] round {} is over: round {} was asked for; rounds do not go back",
                    round, *asked_));
  }
  const bool later = asked_ != round;
  asked_ = round;
  return later;
}

void check_other(const Seat& seat, std::size_t process) {
  if (process >= seat.processes) {
    throw InvalidArgument(fmt::format("[transport] there is no process {}; there are 0 to {}",
                                      process, seat.processes - 1));
  }
  if (process == seat.process) {
    throw InvalidArgument(fmt::format(
        "[transport] process {} cannot send to itself; what stays in a process needs no transport",
        process));
  }
}

void check_head(ByteView head) {
  if (head.size() > kMostHeadBytes) {
    throw InvalidArgument(fmt::format("[transport] a head has at most {} bytes, got {}",
                                      kMostHeadBytes, head.size()));
  }
}

void check_body(Label label, std::size_t from, std::size_t bytes, std::size_t expected) {
  if (bytes != expected) {
    throw CorruptData(
        fmt::format("[transport] a message of round {} from process {} has {} bytes; expected {}",
                    label.round, from, bytes, expected));
  }
}

}  // namespace hearsay::transport
