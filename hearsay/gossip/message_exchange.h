#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/compress/device_vector.h"
#include "hearsay/core/layout.h"
#include "hearsay/gossip/delivery.h"
#include "hearsay/gossip/process_group.h"

namespace hearsay::gossip {

/// Lock-step delivery between the processes of a run: a bank receives everything that was sent to
/// it in this round, and mixes once.
///
/// A message goes over one directed edge: head = MessageHeader and u32 receiver, body = the
/// vector's code. The body is sent only once per receiving process: messages to further receivers
/// there have an empty body. `send` blocks while codes of two rounds ago have not been taken.
///
/// Where all peers are in one process, nothing is encoded or sent: receivers read the outbox.
class MessageExchange final : public Delivery {
 public:
  /// All must outlive the exchange.
  struct Parts {
    ProcessGroup& group;
    const transport::Placement& placement;
    const compress::Compressor& compressor;
    const Layout& layout;
    backend::Kernels& kernels;
    Arrives arrives{};  ///< empty: every message arrives
  };
  explicit MessageExchange(const Parts& parts);
  ~MessageExchange() override;

  std::vector<std::uint32_t> senders(const graph::Weights& weights) const override;
  void send(const graph::Weights& weights, std::uint32_t round, algorithm::Outbox& outbox,
            std::span<const double> push_sum) override;
  /// Throws CorruptData on an unexpected message, RunFailed if a process is gone.
  void receive(const graph::Weights& weights, std::uint32_t round, const algorithm::Outbox& outbox,
               std::span<const double> push_sum, const Mix& mix) override;
  double seconds_waited() const override { return waited_; }

 private:
  /// One vector received from one sender, or its code.
  struct Slot {
    compress::DeviceVector vector;
    Bytes code;
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
  ByteView body_of(const compress::Payload& payload, std::size_t row, InFlight& kept,
                   std::size_t number);
  backend::Array host_row();  ///< a host buffer for one row, reused if possible
  void expect_raw(const graph::Weights& weights, std::size_t payloads);
  void prepare(const graph::Weights& weights, std::size_t payloads);
  void take(const transport::Arrival& arrival, const graph::Weights& weights,
            const algorithm::Outbox& outbox, std::uint32_t round);
  void take_all(const graph::Weights& weights, const algorithm::Outbox& outbox,
                std::uint32_t round);
  void fill(Slot& slot, compress::Payload::Form form, const transport::Arrival& arrival,
            std::uint32_t sender);
  void release();

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
  algorithm::Exchange exchange_;
  double waited_ = 0;
};

}  // namespace hearsay::gossip
