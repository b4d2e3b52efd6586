#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/compress/device_vector.h"
#include "hearsay/gossip/delivery.h"
#include "hearsay/peer/journal.h"
#include "hearsay/peer/neighbours.h"

namespace hearsay::peer {

/// What a peer has done since it started.
struct DeliveryCounts {
  std::uint64_t sent = 0;     ///< messages
  std::uint64_t skipped = 0;  ///< edges without room, or for which the push-sum weight is too small
  std::uint64_t applied = 0;  ///< messages
  std::uint64_t returned = 0;  ///< messages taken back
  std::uint64_t paid = 0;      ///< of these, that had arrived
  /// Rounds of its sender between sending and applying a message, summed over those applied: an
  /// estimate by what records tell of rounds and rates, without the time that a record is under
  /// way.
  double staleness = 0;
};

/// Delivery for a bank of one peer that waits for nobody:
///
///   send      a = w min(1, eta s) on every out-edge that is up and has room: x -= a q, u -= a u
///   receive   everything that arrived: x += a q_j, u += a u_j; what was taken back: likewise;
///             what is owed: x -= a q, u -= a u
///
/// An edge is skipped, and nothing debited, if u would fall below the floor min(1/4, w_ii / 2),
/// w_ii being what the peer keeps in the graph of that round; owed messages wait for the same
/// reason.
class AsynchronousDelivery final : public gossip::Delivery {
 public:
  struct Parts {
    Neighbours& neighbours;
    std::uint32_t self = 0;
    std::uint64_t incarnation = 0;
    const compress::Compressor& compressor;
    const Layout& layout;
    backend::Kernels& kernels;
    /// Own vector of which messages are credited and debited densely: x.
    std::function<backend::VectorView()> numerator{};
    Journal journal{};  ///< may be empty
    /// Of a simulated liar: replaces its vector x by what it sends, and returns the push-sum weight
    /// that it claims. Empty: it is honest.
    std::function<double(std::uint32_t round, std::span<float> x, double push_sum)> lie{};
  };
  explicit AsynchronousDelivery(Parts parts) : parts_(std::move(parts)) {}

  bool in_lock_step() const override { return false; }
  std::vector<std::uint32_t> senders(const graph::Weights&) const override { return {}; }
  void send(const graph::Weights& weights, std::uint32_t round, algorithm::Outbox& outbox,
            std::span<const double> push_sum) override;
  const graph::Weights& sent(const graph::Weights& /*weights*/) const override { return sent_; }
  void receive(const graph::Weights& weights, std::uint32_t round, const algorithm::Outbox& outbox,
               std::span<const double> push_sum, const Mix& mix) override;

  /// s, for the coming rounds (Pace).
  void set_scale(double scale) { scale_ = scale; }
  const DeliveryCounts& counts() const { return counts_; }
  /// Of the push-sum weight, as of the last round that sent.
  double floor() const { return floor_; }
  /// Messages of the last round.
  std::size_t sent_last() const { return sent_.edge_count(); }

 private:
  /// One term of a mixing: a q, and its share of u.
  struct Term {
    std::uint32_t sender;  ///< itself, of what was taken back or is owed
    float amount;
    double push_sum;
    backend::VectorView q;
  };

  void note(Movement::Kind kind, const SentMessage& message, std::uint32_t receiver,
            const backend::VectorView& q) const;
  double staleness(const compress::MessageHeader& header) const;
  double lie(std::uint32_t round, double push_sum, const compress::Payload& payload,
             std::shared_ptr<const Bytes>& code) const;
  Term own_term(const SentMessage& message, float sign, const algorithm::Outbox& outbox,
                std::span<const double> push_sum);
  backend::VectorView decode(const SentMessage& message);
  backend::VectorView place(compress::Decoded decoded);
  void mix_terms(const backend::VectorView& own, double debit, std::span<const Term> terms,
                 double own_push_sum, const Mix& mix);

  Parts parts_;
  double scale_ = 1;
  double floor_ = 0;
  double debit_ = 0;
  std::uint32_t turn_ = 0;  ///< which edge is asked first
  graph::Weights sent_;
  std::vector<std::unique_ptr<compress::DeviceVector>> vectors_;  ///< of one call of receive
  std::size_t placed_ = 0;
  DeliveryCounts counts_;
};

}  // namespace hearsay::peer
