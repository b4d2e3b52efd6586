#include "hearsay/transport/placement.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::transport {

void check_placement(const Placement& placement) {
  const auto& [peers, processes] = placement;
  if (peers == 0 || processes == 0) {
    throw InvalidArgument("[transport] a run has at least one peer and one process");
  }
  if (processes > peers) {
    throw InvalidArgument(
        fmt::format("[transport] {} processes cannot share {} peer{}; start {} or fewer", processes,
                    peers, peers == 1 ? "" : "s", peers));
  }
}

}  // namespace hearsay::transport
