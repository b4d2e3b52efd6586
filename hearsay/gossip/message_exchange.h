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

/// Carries a round's vectors between the banks of a run: from this process's peers to those of
/// others, and back.
///
///   send       what the bank emitted, over every edge that leaves it
///   ...        whatever else the bank does meanwhile, as long as it leaves the outbox alone
///   receive    all that was sent to it in this round
///   release    the outbox may be overwritten
///
/// A message goes over one directed edge: head = MessageHeader and u32 receiver, body = the
/// vector's code. To a second receiver in the same process the body is not sent again: it is empty
/// there. A sender whose codes nobody took for two rounds waits in `send`.
///
/// Where all peers are in one process there is nothing to carry, and all of this does nothing.
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

  /// Takes the codes of the payloads; raw rows are read until `release`.
  void send(const graph::Weights& weights, algorithm::Outbox& outbox,
            std::span<const double> push_sum, std::uint32_t round);

  /// Valid until the next `send`. `outbox`: of the same round, since what comes has the form of
  /// what goes. Throws CorruptData if something comes that was not to be expected, RunFailed if
  /// nothing can come any more.
  const algorithm::Remote& receive(const graph::Weights& weights, const algorithm::Outbox& outbox,
                                   std::uint32_t round);

  void release();

  double seconds_waited() const { return waited_; }  ///< in receive and release, in all

 private:
  /// What came of one sender, as one of its vectors.
  struct Slot {
    compress::Decoded decoded;
    backend::Array values, index;  ///< copies, where the host's memory is not the device's
  };
  /// Bodies that receivers may still be reading.
  struct InFlight {
    transport::Label label;
    std::vector<std::vector<Bytes>> codes;
    std::vector<backend::Array> copies;  ///< of rows on a device, in host memory
  };

  bool is_own(std::size_t peer) const { return peer - first_ < rows_; }
  /// The smallest receiver of that peer in this process: the one whose message has the body.
  std::uint32_t first_receiver(const graph::Weights& weights, std::uint32_t sender) const;
  ByteView body_of(const algorithm::Payload& payload, std::size_t row, InFlight& kept,
                   std::size_t number);
  backend::Array host_row();  ///< room for a row, used again if there is some
  void expect_raw(const graph::Weights& weights, std::size_t payloads);
  void prepare(const graph::Weights& weights, std::size_t payloads);
  void take(const transport::Arrival& arrival, const graph::Weights& weights,
            const algorithm::Outbox& outbox, std::uint32_t round);
  void fill(Slot& slot, bool raw, const transport::Arrival& arrival, std::uint32_t sender);
  backend::VectorView view(Slot& slot);

  Parts parts_;
  std::size_t first_, rows_;
  transport::Label label_;  ///< of the round that was sent last
  bool lends_rows_ = false;
  std::deque<InFlight> in_flight_;
  std::vector<backend::Array> spare_copies_;  ///< of rounds that have been read
  std::vector<graph::Edge> edges_;            ///< from elsewhere: receivers, then senders ascending
  std::vector<std::vector<bool>> arrived_;    ///< [payload][edge]
  std::vector<std::vector<Slot>> slots_;      ///< [payload][sender]
  algorithm::Remote remote_;
  double waited_ = 0;
};

}  // namespace hearsay::gossip
