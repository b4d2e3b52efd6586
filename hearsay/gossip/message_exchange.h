#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/core/layout.h"
#include "hearsay/gossip/process_group.h"
#include "hearsay/graph/weights.h"

namespace hearsay::gossip {

/// Exchanges a round's vectors between the processes of a run: sends those of this process's peers,
/// receives those addressed to them.
///
///   send       what the bank emitted, over every edge that leaves it
///   ...        whatever else the bank does meanwhile, as long as it leaves the outbox alone
///   receive    all that was sent to it in this round
///   release    the outbox may be overwritten
///
/// A message goes over one directed edge: head = MessageHeader and u32 receiver, body = the
/// vector's code. The body is sent only once per receiving process: messages to further receivers
/// there have an empty body. `send` blocks while codes of two rounds ago have not been taken.
///
/// If all peers are in one process, all calls do nothing.
class MessageExchange {
 public:
  /// All must outlive the exchange.
  struct Parts {
    ProcessGroup& group;
    const transport::Placement& placement;
    const compress::Compressor& compressor;
    const Layout& layout;
    backend::Kernels& kernels;
  };
  explicit MessageExchange(const Parts& parts);
  ~MessageExchange();

  /// Peers of other processes that send to peers of this one, ascending.
  std::vector<std::uint32_t> senders(const graph::Weights& weights) const;

  /// Moves the codes out of the payloads; raw rows are read until `release`.
  void send(const graph::Weights& weights, algorithm::Outbox& outbox,
            std::span<const double> push_sum, std::uint32_t round);

  /// Valid until the next `send`. `outbox`: of the same round; it gives the number and kind of the
  /// vectors to receive. Throws CorruptData on an unexpected message, RunFailed if a process is
  /// gone.
  const algorithm::Remote& receive(const graph::Weights& weights, const algorithm::Outbox& outbox,
                                   std::uint32_t round);

  void release();

  double seconds_waited() const { return waited_; }  ///< total, in receive and release

 private:
  /// One vector received from one sender.
  struct Slot {
    compress::Decoded decoded;
    backend::Array values, index;  ///< device copies, unless the device shares the host's memory
  };
  /// Bodies that may not have been sent completely yet.
  struct InFlight {
    transport::Label label;
    std::vector<std::vector<Bytes>> codes;
    std::vector<backend::Array> copies;  ///< host copies of rows on a device
  };

  bool is_own(std::size_t peer) const { return peer - first_ < rows_; }
  /// The lowest-numbered receiver of that peer in this process, whose message has the body.
  std::uint32_t first_receiver(const graph::Weights& weights, std::uint32_t sender) const;
  ByteView body_of(const algorithm::Payload& payload, std::size_t row, InFlight& kept,
                   std::size_t number);
  backend::Array host_row();  ///< a host buffer for one row, reused if possible
  void expect_raw(const graph::Weights& weights, std::size_t payloads);
  void prepare(const graph::Weights& weights, std::size_t payloads);
  void take(const transport::Arrival& arrival, const graph::Weights& weights,
            const algorithm::Outbox& outbox, std::uint32_t round);
  void fill(Slot& slot, bool raw, const transport::Arrival& arrival, std::uint32_t sender);
  backend::VectorView view(Slot& slot);

  Parts parts_;
  std::size_t first_, rows_;
  transport::Label label_;  ///< of the last round sent
  bool lends_rows_ = false;
  std::deque<InFlight> in_flight_;
  std::vector<backend::Array> spare_copies_;  ///< host buffers of completed rounds
  std::vector<graph::Edge> edges_;  ///< from other processes: receivers, then senders ascending
  std::vector<std::vector<bool>> arrived_;  ///< [payload][edge]
  std::vector<std::vector<Slot>> slots_;    ///< [payload][sender]
  algorithm::Remote remote_;
  double waited_ = 0;
};

}  // namespace hearsay::gossip
