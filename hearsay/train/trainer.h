#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/backend/state.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/engine/objective.h"
#include "hearsay/gossip/group_mass_meter.h"
#include "hearsay/gossip/learning_rate.h"
#include "hearsay/gossip/ledger.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/gossip/message_exchange.h"
#include "hearsay/gossip/optimizer.h"
#include "hearsay/gossip/process_group.h"
#include "hearsay/graph/facts.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/train/init.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/peer_report.h"
#include "hearsay/train/run_options.h"

namespace hearsay::train {

/// Runs the peers of a run that live in this process (all n of them or those of one of several
/// processes) round by round.
///
/// Everything is a function of the config: the same config gives bit-identical models for any
/// number of threads, after a restart from `state()`, next to other trainers on one machine, and
/// for any number of processes.
///
/// All processes of a run call the same members in the same order, except for those that are marked
/// as local to this process.
///
/// Rounds do not wait for the device. Their results are processed by `drain`, at the latest when
/// the device is Kernels::lag() rounds behind, so a failure may be reported some rounds late.
class Trainer {
 public:
  /// Builds and checks everything before the first step. `config` must be resolved. Throws
  /// InvalidArgument.
  explicit Trainer(const RunOptions& config);
  /// The same on a machine shared with others; its `threads` and `device` replace the settings.
  Trainer(const RunOptions& config, std::shared_ptr<gossip::Machine> machine);
  ~Trainer();

  std::uint64_t round() const { return round_; }  ///< completed rounds
  std::uint64_t training_rounds() const { return training_rounds_; }
  std::uint64_t total_rounds() const;  ///< including the method's final rounds

  /// Run one round. `measure_mass`: measure this round's mass drift (costs a few passes over the
  /// models). Throws RunFailed if a loss or a model is no longer finite, naming peer and round.
  void run_round(bool measure_mass);

  /// The same in two halves, to run rounds of several trainers in parallel: up to the gradient,
  /// which the caller computes if there is one (Objective::gradients_together), and the rest. Then
  /// Machine::end_round, once for all of them.
  std::optional<engine::GradientRequest> begin_round(bool measure_mass);
  void end_round();

  /// Wait until all rounds are completed and recorded. Throws as run_round does.
  void drain() const;

  /// `drain`, and throws RunFailed if a model is not finite, naming the peer. Of several processes
  /// all throw, and only here: until this synchronization, those that have failed continue like the
  /// others.
  void check_finite() const;

  /// Score every peer's model and the averaged model. Throws RunFailed as run_round does. Rank 0
  /// has the results, the others only the round.
  Metrics evaluate();

  /// The complete state for a restart, including algorithm and optimizer; read it after `drain`.
  void state(backend::StateList& list);
  /// To be called before and after a state of `round` completed rounds is read back.
  void restoring(std::uint64_t round) { meet_senders(round); }
  void restored() { algorithm_->restored(); }

  /// The traffic of all peers in drained rounds, on rank 0.
  gossip::Traffic traffic() const;
  /// One peer's model (z) and its buffers, on rank 0.
  SavedModel fetch_model(std::size_t peer) const;
  /// SHA-256 of all peers' models, on rank 0.
  std::string models_sha256() const;
  /// The averaged model: the mean of all peers' models.
  std::vector<float> average_model() const;

  // Local to this process:
  std::size_t peers() const { return placement_.peers; }  ///< n, of all processes
  std::size_t first() const { return first_; }            ///< the first of this process's peers
  std::size_t rows() const { return rows_; }              ///< number of this process's peers
  gossip::ProcessGroup& group() const { return machine_->group(); }
  const transport::Placement& placement() const { return placement_; }
  const Layout& layout() const { return objective_->layout(); }
  const engine::Objective& objective() const { return *objective_; }
  const algorithm::Algorithm& algorithm() const { return *algorithm_; }
  const graph::Facts& graph() const { return facts_; }
  const backend::Kernels& kernels() const { return kernels_; }
  backend::Kernels& kernels_for_state() { return kernels_; }  ///< to save and restore with
  ThreadPool& pool() const { return machine_->pool(); }
  /// Number of models the host processes in parallel: one per thread, within 256 MB.
  std::size_t models_at_once() const;
  std::size_t threads() const { return machine_->pool().threads(); }
  std::size_t batch() const { return objective_->batch(); }
  std::uint64_t rounds_per_epoch() const { return objective_->rounds_per_epoch(); }
  const std::string& graph_sha256() const { return graph_sha256_; }  ///< of one period's edges
  /// Time spent in rounds waiting for other processes.
  double seconds_waited() const {
    return message_exchange_->seconds_waited() + everybody_.seconds_waited();
  }

  /// The model of one of this process's peers (z), copied out.
  std::vector<float> model(std::size_t peer) const;

 private:
  void start(const std::string& init);
  void start_of(std::uint32_t peer, std::span<float> x) const;
  void meet_senders(std::uint64_t round);
  const graph::Weights& weights_of(std::uint64_t round);
  std::vector<PeerReport> gather(std::span<const PeerReport> own) const;
  std::vector<double> distances_to(std::span<const float> center) const;
  void step();
  void emit();
  void gossip();
  void average();
  void check() const;
  std::span<double> norms_of(backend::ConstBlock rows) const;

  std::shared_ptr<gossip::Machine> machine_;  ///< shared by the trainers of a fleet
  backend::Kernels& kernels_;
  transport::Placement placement_;
  std::size_t first_ = 0, rows_ = 0;
  std::unique_ptr<graph::Schedule> schedule_;
  graph::Facts facts_;
  std::string graph_sha256_;
  std::unique_ptr<compress::Compressor> compressor_;
  std::unique_ptr<engine::Objective> objective_;
  std::unique_ptr<algorithm::BankCompressor> bank_compressor_;
  std::unique_ptr<algorithm::Algorithm> algorithm_;
  std::unique_ptr<gossip::Optimizer> optimizer_;
  std::unique_ptr<gossip::LearningRate> rate_;
  std::unique_ptr<gossip::Ledger> ledger_;
  backend::Array gradient_;
  std::unique_ptr<gossip::MessageExchange> message_exchange_;
  gossip::GroupCollective everybody_;
  gossip::GroupMassMeter meter_;
  std::optional<std::uint64_t> met_phase_;  ///< of the graph whose senders the algorithm knows

  std::vector<float> init_;  ///< initial model of all peers; empty: that of the objective
  std::uint64_t training_rounds_ = 0;
  std::uint64_t round_ = 0;
  // State of the current round:
  algorithm::Plan plan_;
  bool measure_mass_ = false;
  algorithm::Outbox outbox_;
  algorithm::Exchange exchange_;
};

}  // namespace hearsay::train
