#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hearsay/backend/state.h"
#include "hearsay/core/spec.h"
#include "hearsay/graph/weights.h"

namespace hearsay::gossip {

/// A simple model of network and compute times, so that methods can be compared by simulated time.
///
/// Every peer has a clock, in seconds. In a round peer i computes for c_i = compute * (1 +
/// straggler * E_i), E_i drawn from an exponential distribution of mean 1; then (or, if its message
/// does not need the gradient, meanwhile) sends to its out-neighbours one after the other at
/// `bandwidth` bytes per second; each message arrives `latency` later. Its next round starts when
/// it has computed, has sent, and has received all messages addressed to it. A global average
/// starts when the last peer is ready and takes a ring all-reduce: 2(n-1) latencies and 2(n-1)/n of
/// the bytes. A message is lost with probability `loss`, and its sender is notified.
class Link {
 public:
  /// "latency=1e-3,bandwidth=1.25e8"; "none" is an infinitely fast network. Throws InvalidArgument.
  Link(std::string_view keys, std::size_t peers, std::uint64_t seed);

  bool simulated() const { return simulated_; }
  double loss() const { return loss_; }

  /// Whether the message over that edge arrives in that round: a deterministic function of the
  /// seed.
  bool arrives(const graph::Edge& edge, std::uint32_t round) const;

  void compute(std::uint32_t round);  ///< every peer takes a gradient
  void gossip(const graph::Weights& weights, std::span<const std::size_t> bytes, bool send_first);
  void global(std::size_t bytes);  ///< of one peer's vector

  double seconds() const;  ///< the latest clock
  void state(backend::StateList& list) {
    list.per_peer("link_clock", clock_);
    list.per_peer("link_started", started_);
  }

  static std::span<const Parameter> parameters();

 private:
  bool simulated_ = false;
  double latency_ = 0, bandwidth_ = 0, compute_ = 0, straggler_ = 0, loss_ = 0;
  std::uint64_t seed_;
  std::vector<double> clock_;
  std::vector<double> started_;  ///< when each peer's current round began
};

}  // namespace hearsay::gossip
