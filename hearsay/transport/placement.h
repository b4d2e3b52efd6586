#pragma once

#include <cstddef>

namespace hearsay::transport {

/// Which peers live in which process: contiguous and ascending, in shares that differ by at most
/// one. 3 peers in 2 processes: peer 0; peers 1 and 2.
struct Placement {
  std::size_t peers = 1;
  std::size_t processes = 1;

  /// The first peer of a process; first(processes) = peers.
  constexpr std::size_t first(std::size_t process) const { return process * peers / processes; }
  constexpr std::size_t rows(std::size_t process) const {
    return first(process + 1) - first(process);
  }
  /// The process in which a peer lives.
  constexpr std::size_t owner(std::size_t peer) const {
    return ((peer + 1) * processes - 1) / peers;
  }
};

/// Throws InvalidArgument unless every process has a peer: 1 <= processes <= peers.
void check_placement(const Placement& placement);

}  // namespace hearsay::transport
