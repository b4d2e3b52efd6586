#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearsay/gossip/liars/liars.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/peer/peer.h"
#include "hearsay/peer/world/event_queue.h"
#include "hearsay/peer/world/faults.h"
#include "hearsay/peer/world/virtual_network.h"

namespace hearsay::peer {

/// Told of what happens in a world, in order.
class WorldObserver {
 public:
  virtual ~WorldObserver() = default;
  virtual void entered(const Peer&) {}
  virtual void moved(const Movement&) {}
  virtual void ran_round(const Peer&) {}
  virtual void died(const Peer&) {}
  virtual void logged(std::uint32_t /*peer*/, const std::string& /*what*/) {}
};

/// What the peers have done in all their lives.
struct WorldCounts {
  std::uint64_t rounds = 0, entries = 0, deaths = 0;
  DeliveryCounts messages{};  ///< but for their staleness, which is known here:
  /// Rounds of its sender between sending and applying a message, summed over `aged` messages:
  /// those applied while their senders lived.
  double staleness = 0;
  std::uint64_t aged = 0;
};

/// All peers of an asynchronous run in one process, in virtual time: the code of `hearsay peer`
/// over a network and devices with seeded faults. A function of the options: the same options give
/// the same models to the bit.
///
///   World world({.options = resolved});
///   while (world.step()) ...
///
/// A peer that returns has a model that it saved, a twentieth of the run old at most, and enters
/// with the fleet's clock.
class World {
 public:
  struct Parts {
    train::RunOptions options;  ///< resolved
    train::RunParts own_parts{};
    Controls controls{};
    WorldObserver* observer = nullptr;
  };
  /// Throws InvalidArgument.
  explicit World(Parts parts);

  /// The next event happens. False: all peers are done. Throws RunFailed if a model is not finite.
  bool step();
  /// Scores all peers that live; those of the others are empty. `divergence` is left to the caller.
  std::vector<std::optional<train::PeerReport>> evaluate();

  double now() const { return events_.now(); }  ///< seconds
  std::uint32_t peers() const { return static_cast<std::uint32_t>(lives_.size()); }
  /// A peer; null while it is dead.
  const Peer* peer(std::uint32_t slot) const { return lives_[slot].peer.get(); }
  Peer* peer(std::uint32_t slot) { return lives_[slot].peer.get(); }
  /// The fleet's clock t: the mean over those that live.
  double clock() const { return living_ > 0 ? clocks_ / living_ : 0; }
  /// Rounds to train.
  std::uint64_t training_rounds() const { return training_rounds_; }
  WorldCounts counts() const;
  /// What peer `slot` sent in all its lives.
  gossip::PeerTotals sent_by(std::uint32_t slot) const;
  /// Bytes of all frames: messages, also repeated ones, and whatever the protocol needs.
  std::uint64_t wire_bytes() const { return network_.bytes(); }
  /// Peers that lie in their messages, ascending.
  const std::vector<std::uint32_t>& liars() const { return liars_; }
  /// By how much the ledger of push-sum weights is off (audit.h); NaN if peers lie or protect
  /// themselves, which does not conserve them.
  double mass_drift() const;
  const graph::Facts& graph() const { return graph_.facts; }
  gossip::Machine& machine() { return machine_; }  ///< whose threads compute gradients and scores

 private:
  struct Life {
    std::unique_ptr<Peer> peer{};
    std::uint64_t incarnation = 0;
    std::optional<train::SavedModel> saved{};  ///< its last one
    bool done = false;
    double next_round = 0;      ///< when
    gossip::PeerTotals past{};  ///< of earlier lives
  };

  void enter(std::uint32_t slot);
  void die(std::uint32_t slot);
  double tell_lie(std::uint32_t liar, std::uint32_t round, std::span<float> x, double push_sum);
  void run_round(std::uint32_t slot);
  void run_round_after(std::uint32_t slot, double seconds);
  void prepare(std::uint32_t slot);
  void tick(std::uint32_t slot);
  void meet_faults();
  /// `event` happens if the peer still leads that life.
  void later(double seconds, std::uint32_t slot, std::function<void()> event);
  void moved(const Movement& movement);
  static void count(const Peer& peer, WorldCounts& counts);

  Parts parts_;
  Faults faults_;
  WholeGraph graph_;
  EventQueue events_;
  VirtualNetwork network_;
  gossip::Machine machine_;
  Random random_;
  std::vector<double> slowness_;
  std::vector<std::uint32_t> victims_;
  std::vector<std::uint32_t> liars_;
  std::unique_ptr<gossip::Liars> lies_;  ///< null until all have entered, or if none lies
  std::vector<Life> lives_;
  std::uint64_t training_rounds_ = 0, saved_every_ = 1;
  bool killed_ = false, returned_ = false, cut_ = false, healed_ = false;
  WorldCounts past_;                ///< of lives that are over
  double clocks_ = 0, living_ = 0;  ///< of those that live: sum of clocks, number
  double expected_u_ = 0;           ///< sum of u and of what is on its way
  double outstanding_u_ = 0;        ///< on its way, or owed
};

}  // namespace hearsay::peer
