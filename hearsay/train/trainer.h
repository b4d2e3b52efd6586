#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearsay/engine/objective.h"
#include "hearsay/gossip/learning_rate.h"
#include "hearsay/gossip/round_driver.h"
#include "hearsay/train/init.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/peer_report.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/run_parts.h"
#include "hearsay/train/run_view.h"

namespace hearsay::train {

/// Trains the peers of a run that live in this process (all n of them or those of one of several
/// processes) round by round: a RoundDriver with the gradients of an objective, a learning rate and
/// an end.
///
/// Everything is a function of the config: the same config gives bit-identical models for any
/// number of threads, after a restart from `state()`, next to other trainers on one machine, and
/// for any number of processes.
///
/// All processes of a run call the same members in the same order, except for those that are marked
/// as local to this process.
class Trainer final : public RunView {
 public:
  /// Builds and checks everything before the first step. `config` must be resolved, with the same
  /// parts. Throws InvalidArgument.
  explicit Trainer(const RunOptions& config, const RunParts& parts = {});
  /// The same on a machine shared with others; its `threads` and `device` replace the settings.
  Trainer(const RunOptions& config, std::shared_ptr<gossip::Machine> machine,
          const RunParts& parts = {});
  Trainer(const Trainer&) = delete;  // its driver refers to it
  Trainer& operator=(const Trainer&) = delete;

  std::uint64_t round() const override { return driver_->round(); }
  std::uint64_t training_rounds() const override { return training_rounds_; }
  std::uint32_t final_rounds() const override { return algorithm().final_rounds(); }

  /// Run one round. `measure_mass`: measure this round's mass drift (costs a few passes over the
  /// models). Throws RunFailed if a loss or a model is no longer finite, naming peer and round.
  void run_round(bool measure_mass);

  /// One round of trainers that share a machine, with one call for the gradients of all of them.
  struct Turn {
    Trainer* trainer = nullptr;
    bool measure_mass = false;
    std::exception_ptr error{};  ///< of this trainer; the others are not affected
  };
  static void run_round(std::span<Turn> turns);

  /// Score every peer's model and the averaged model. Throws RunFailed as run_round does. Rank 0
  /// has the results, the others only the round.
  Metrics evaluate();

  /// The complete state for a restart, including algorithm and optimizer; read it after `drain`.
  void state(backend::StateList& list);
  /// To be called before and after a state of `round` completed rounds is read back.
  void restoring(std::uint64_t round) { driver_->restoring(round); }
  void restored() { driver_->restored(); }

  /// See RoundDriver.
  void drain() const { driver_->drain(); }
  void check_finite() const { driver_->check_finite(); }
  std::vector<float> average_model() const { return driver_->average_model(); }

  gossip::Traffic traffic() const override;
  /// One peer's model (z) and its buffers, on rank 0.
  SavedModel fetch_model(std::size_t peer) const;
  /// SHA-256 of all peers' models, on rank 0.
  std::string models_sha256() const;

  // Local to this process:
  const gossip::RoundDriver& driver() const { return *driver_; }
  const engine::Objective& objective() const override { return *objective_; }
  const algorithm::Algorithm& algorithm() const { return driver_->algorithm(); }
  const graph::Facts& graph() const override { return driver_->graph(); }
  double averaging_rate() const override { return algorithm().averaging_rate(); }
  const std::string& graph_sha256() const { return driver_->graph_sha256(); }
  const Layout& layout() const { return objective_->layout(); }
  gossip::ProcessGroup& group() const { return driver_->group(); }
  const transport::Placement& placement() const { return driver_->placement(); }
  std::size_t peers() const override { return driver_->peers(); }
  std::size_t first() const { return driver_->first(); }  ///< the first of this process's peers
  std::size_t rows() const { return driver_->rows(); }    ///< number of this process's peers
  backend::Kernels& kernels() const override { return driver_->machine().kernels(); }
  ThreadPool& pool() const { return driver_->machine().pool(); }
  std::size_t models_at_once() const { return driver_->models_at_once(); }
  std::size_t threads() const override { return pool().threads(); }
  std::size_t batch() const { return objective_->batch(); }
  std::uint64_t rounds_per_epoch() const { return objective_->rounds_per_epoch(); }
  double seconds_waited() const { return driver_->seconds_waited(); }

  /// The model of one of this process's peers (z), copied out.
  std::vector<float> model(std::size_t peer) const;

 private:
  std::vector<float> start(const std::string& init);
  gossip::RoundSettings settings(bool measure_mass) const;
  std::vector<PeerReport> gather(std::span<const PeerReport> own) const;

  std::shared_ptr<gossip::Machine> machine_;  ///< outlives the objective, whose arrays are on it
  std::unique_ptr<engine::Objective> objective_;
  std::unique_ptr<gossip::LearningRate> rate_;
  std::vector<float> init_;  ///< initial model of all peers; empty: that of the objective
  std::unique_ptr<gossip::RoundDriver> driver_;
  std::uint64_t training_rounds_ = 0;
};

}  // namespace hearsay::train
