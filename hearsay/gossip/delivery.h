#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/graph/weights.h"

namespace hearsay::gossip {

/// Whether the message over an edge arrives in a round; sender and receiver get the same answer.
using Arrives = std::function<bool(const graph::Edge&, std::uint32_t round)>;

/// How a bank's vectors reach their receivers, and what reaches the bank.
///
///   send       what the bank emitted, over every edge that leaves it
///   ...        whatever else the bank does meanwhile, as long as it leaves the outbox alone
///   receive    mixes what has arrived; then the outbox may be overwritten
///
/// Lock-step rounds receive all messages of the round (MessageExchange). An asynchronous bank has
/// its own: it receives what has arrived by now, and may mix any number of times, also not at all.
class Delivery {
 public:
  using Mix = std::function<void(const algorithm::Exchange&)>;

  virtual ~Delivery() = default;

  /// Peers of other banks that send to this one, ascending (Algorithm::meet).
  virtual std::vector<std::uint32_t> senders(const graph::Weights& weights) const = 0;

  /// May move the codes out of the payloads, and read raw rows until `receive` mixes.
  virtual void send(const graph::Weights& weights, std::uint32_t round, algorithm::Outbox& outbox,
                    std::span<const double> push_sum) = 0;

  /// `outbox`: of the same round; it gives the number and form of the vectors to receive.
  virtual void receive(const graph::Weights& weights, std::uint32_t round,
                       const algorithm::Outbox& outbox, std::span<const double> push_sum,
                       const Mix& mix) = 0;

  /// The edges over which the last `send` has sent: what the ledger counts.
  virtual const graph::Weights& sent(const graph::Weights& weights) const { return weights; }

  /// False: messages may be lost or late, and other banks are in other rounds. Methods that need
  /// every message are then refused, and a bank whose models are not finite stops at once, not
  /// where all processes meet.
  virtual bool in_lock_step() const { return true; }

  virtual double seconds_waited() const { return 0; }  ///< total, for other processes
};

}  // namespace hearsay::gossip
