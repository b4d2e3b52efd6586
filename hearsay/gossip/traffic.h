#pragma once

#include <cstdint>
#include <vector>

namespace hearsay::gossip {

/// What a peer sent to another.
struct EdgeBytes {
  std::uint32_t sender = 0, receiver = 0;
  std::uint64_t bytes = 0;

  bool operator==(const EdgeBytes&) const = default;
};

/// What went over the edges so far.
struct Traffic {
  std::uint64_t messages = 0;      ///< one vector over one directed edge
  std::uint64_t edge_rounds = 0;   ///< directed edges used, summed over rounds
  std::uint64_t bytes = 0;         ///< as encoded for the wire, headers included
  std::uint64_t paper_bytes = 0;   ///< as the seed papers count
  std::uint64_t global_bytes = 0;  ///< of global averages: 2(n-1)/n * 4d a peer and average
  /// What each peer sent of `bytes`, where this is of all peers of a run and they are no more than
  /// kPeersTold.
  std::vector<std::uint64_t> bytes_by_peer{};
  /// The same by edge, senders ascending, where the graph changes and peers are no more than
  /// kEdgesToldOf: in one that does not, a peer's edges carry the same.
  std::vector<EdgeBytes> bytes_by_edge{};

  static constexpr std::size_t kPeersTold = 4096, kEdgesToldOf = 64;
};

}  // namespace hearsay::gossip
