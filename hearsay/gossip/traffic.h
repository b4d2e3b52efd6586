#pragma once

#include <cstdint>
#include <vector>

namespace hearsay::gossip {

/// Bytes that one peer sent to another.
struct EdgeBytes {
  std::uint32_t sender = 0, receiver = 0;
  std::uint64_t bytes = 0;

  bool operator==(const EdgeBytes&) const = default;
};

/// Totals of what was sent over the edges so far.
struct Traffic {
  std::uint64_t messages = 0;      ///< one vector over one directed edge
  std::uint64_t edge_rounds = 0;   ///< directed edges used, summed over rounds
  std::uint64_t bytes = 0;         ///< as encoded for the wire, headers included
  std::uint64_t paper_bytes = 0;   ///< as the seed papers count
  std::uint64_t global_bytes = 0;  ///< of global averages: 2(n-1)/n * 4d per peer and average
  /// `bytes` by sender; only in the totals of a whole run of at most kPeersTold peers.
  std::vector<std::uint64_t> bytes_by_peer{};
  /// `bytes` by edge, senders ascending; only if the graph changes and there are at most
  /// kEdgesToldOf peers: in a static graph all edges of a sender carry the same bytes.
  std::vector<EdgeBytes> bytes_by_edge{};

  static constexpr std::size_t kPeersTold = 4096, kEdgesToldOf = 64;
};

}  // namespace hearsay::gossip
