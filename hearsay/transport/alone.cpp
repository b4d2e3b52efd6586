#include "hearsay/transport/alone.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/transport/cores.h"

namespace hearsay::transport {

namespace {

[[noreturn]] void reject(std::size_t process) {
  throw InvalidArgument(
      fmt::format("[transport] there is no process {}; the run lives in one process", process));
}

}  // namespace

Seat Alone::seat() const {
  if (seat_) return *seat_;
  return {.cores = fair_share({allowed_cores()}, 0)};
}

bool Alone::send(std::size_t process, Label, ByteView, ByteView) { reject(process); }

void Alone::expect(std::size_t process, Label, std::span<std::uint8_t>) { reject(process); }

std::optional<Arrival> Alone::receive(Label, std::chrono::milliseconds) {
  throw InvalidArgument("[transport] nobody sends to a run that lives in one process");
}

}  // namespace hearsay::transport
