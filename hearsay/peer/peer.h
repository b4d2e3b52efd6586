#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hearsay/engine/objective.h"
#include "hearsay/gossip/learning_rate.h"
#include "hearsay/gossip/round_driver.h"
#include "hearsay/peer/delivery.h"
#include "hearsay/peer/live_schedule.h"
#include "hearsay/peer/neighbours.h"
#include "hearsay/peer/pace.h"
#include "hearsay/train/peer_report.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/run_parts.h"
#include "hearsay/train/safetensors.h"
#include "hearsay/transport/alone.h"

namespace hearsay::peer {

/// The graph of a run, of any number of peers.
MakeGraph graph_of(const train::RunOptions& options, const train::RunParts& parts);

/// The graph of all peers of a run.
struct WholeGraph {
  graph::Facts facts;
  std::uint32_t hops = 1;  ///< across it
};
/// Throws InvalidArgument if there is no such graph of any smaller number of peers.
WholeGraph whole_graph(const train::RunOptions& options, const train::RunParts& parts);

/// Where a peer stands.
enum class Stage {
  kEntering,  ///< knows others, and has no model yet
  kTraining,
  kFinal,     ///< the method's final rounds; given up if a minute passes without one, or more
              ///< where others need long for a round
  kFinished,  ///< mixes on until all live peers have finished, as long at most
  kLeaving,   ///< sends nothing more, and waits until all mass is where it belongs, 2 s at most
  kDone,
};

/// One life of one peer of an asynchronous run: it trains whenever it is ready, and waits for
/// nobody.
///
///   Peer peer(parts);
///   peer.neighbours().use({wire});        from now on it talks to others
///   peer.enter(model, first_round);
///   while (peer.stage() != Stage::kDone) peer.run_round();
///
/// A round of it:
///
///   t, s: how far the fleet is, and how fast                  (Pace)
///   x -= lr(t) s min(1, 4u) d(z)                              step
///   emit; then what AsynchronousDelivery does                 send, mix
///
/// It enters with weight 1: x = z, u = 1, whatever happened to its earlier lives.
class Peer {
 public:
  struct Parts {
    const train::RunOptions& options;  ///< resolved
    const train::RunParts& own_parts;
    std::uint32_t self = 0;
    std::uint64_t incarnation = 1;
    const WholeGraph& graph;  ///< which takes long to compute for many peers
    std::size_t threads = 1;
    Controls controls{};
    Journal journal{};
    /// Of a simulated liar (AsynchronousDelivery::Parts).
    std::function<double(std::uint32_t round, std::span<float> x, double push_sum)> lie{};
    std::vector<std::string> names{};  ///< of the peers, for people; empty: "peer 3"
    std::function<void(const std::string&)> log{};
  };
  explicit Peer(Parts parts);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  std::uint32_t self() const { return parts_.self; }
  std::uint64_t incarnation() const { return parts_.incarnation; }
  Neighbours& neighbours() { return *neighbours_; }
  const Neighbours& neighbours() const { return *neighbours_; }

  /// Keeps connections to whom it is to know; rounds do that too.
  void look_around();
  /// Begins to train with that model; empty: the initial one of the run. `first_round`: the
  /// fleet's clock.
  void enter(std::optional<train::SavedModel> model = {}, std::uint64_t first_round = 0);

  /// Whether the next round will want a gradient, as far as can be told, and it is not there yet.
  bool wants_gradient() const { return stage_ == Stage::kTraining && !prepared_; }
  /// Compute the gradient of the next round, which depends on nothing that happens before it: for
  /// several peers at a time, on a thread each.
  void prepare();
  /// Runs one round. Throws RunFailed if its model is not finite; nothing of that round is sent.
  void run_round();
  Stage stage() const { return stage_; }
  /// Leave the run: a few more rounds that send nothing, then it is done.
  void leave();

  /// The fleet's clock t, as of the last round.
  double clock() const { return pace_.clock(); }
  std::uint64_t training_rounds() const { return training_rounds_; }
  double learning_rate() const;            ///< lr(t), of the last round
  double scale() const { return scale_; }  ///< s, of the last round
  /// The last round was x -= step() driver().gradient() before it mixed; 0: it took no gradient.
  float step() const { return step_; }
  double floor() const { return delivery_->floor(); }  ///< of the push-sum weight
  double rate() const { return pace_.rate(); }         ///< rounds per second
  double push_sum() const { return driver_->algorithm().push_sum()[0]; }
  const DeliveryCounts& counts() const { return delivery_->counts(); }

  const engine::Objective& objective() const { return *objective_; }
  backend::Kernels& kernels() const { return machine_->kernels(); }
  std::size_t threads() const { return machine_->pool().threads(); }
  const gossip::RoundDriver& driver() const { return *driver_; }
  gossip::Ledger& ledger() const { return driver_->ledger(); }
  std::uint64_t first_round() const { return first_round_; }

  train::SavedModel model() const;       ///< z and buffers
  std::vector<float> numerator() const;  ///< x
  /// Its score, weight, and losses since the last evaluation; `divergence` is left to the caller.
  train::PeerReport evaluate();

 private:
  void weigh(double push_sum);
  void look_around(double now);
  void turn_to(Stage stage, double now);
  void move_on(double now);
  bool all_have_finished(double now) const;
  double patience(double now) const;
  void log(const std::string& what) const;
  gossip::RoundSettings settings() const;
  void tell();

  Parts parts_;
  transport::Alone seat_;
  gossip::ProcessGroup group_;
  std::shared_ptr<gossip::Machine> machine_;
  std::unique_ptr<engine::Objective> objective_;
  std::unique_ptr<gossip::LearningRate> learning_rate_;
  gossip::DriverParts rounds_;  ///< until it enters
  std::unique_ptr<Neighbours> neighbours_;
  std::unique_ptr<gossip::RoundDriver> driver_;
  LiveSchedule* schedule_ = nullptr;          ///< the driver's
  AsynchronousDelivery* delivery_ = nullptr;  ///< the driver's
  Pace pace_;
  Stage stage_ = Stage::kEntering;
  std::uint64_t first_round_ = 0;
  std::uint64_t training_rounds_ = 0;
  std::uint64_t final_rounds_ = 0;  ///< those done
  double entered_ = 0;              ///< when the stage began, or the last final round was
  double scale_ = 1;
  float step_ = 0;
  bool prepared_ = false;                    ///< the driver's gradient is that of the next round
  std::vector<double> its_losses_;           ///< those of the prepared gradient
  float loss_, score_;                       ///< the last ones; NaN if there are none
  std::vector<std::uint32_t> whom_to_know_;  ///< neighbours if all peers are live
  std::uint32_t turn_ = 0;                   ///< who is tried next by a peer without connections
};

}  // namespace hearsay::peer
