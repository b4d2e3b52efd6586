#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/backend/mass_meter.h"
#include "hearsay/backend/state.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/engine/objective.h"
#include "hearsay/graph/facts.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/train/accounts.h"
#include "hearsay/train/config.h"
#include "hearsay/train/learning_rate.h"
#include "hearsay/train/machine.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/optimizer.h"

namespace hearsay::train {

/// All n peers of a run in one process, round by round.
///
/// Everything that happens is a function of the config: the same config gives bit-identical models
/// for any number of threads, and after a restart from `state()`; also side by side with other
/// simulations on one machine.
///
/// Rounds do not wait for the device. What they tell is taken account of by `settle`, at the latest
/// when the device is Kernels::lag() rounds behind, so a failure may show rounds after its own.
class Simulation {
 public:
  /// Builds and checks everything before the first step. `config` must be resolved. Throws
  /// InvalidArgument.
  explicit Simulation(const Config& config);
  /// The same on a machine that it shares with others; `threads` and `device` are the machine's.
  Simulation(const Config& config, std::shared_ptr<Machine> machine);
  ~Simulation();

  std::uint64_t round() const { return round_; }  ///< rounds done
  std::uint64_t training_rounds() const { return training_rounds_; }
  std::uint64_t total_rounds() const;  ///< with the method's final ones

  /// Run one round. `measure_mass`: measure this round's mass drift (costs a few passes over the
  /// models). Throws RunFailed if a loss or a model is no longer finite, naming peer and round.
  void run_round(bool measure_mass);

  /// The same in two halves, for rounds of several simulations side by side: until the gradient,
  /// which the caller takes if there is one (Objective::gradients_together), and from there on.
  /// Then Machine::end_round, once for all of them.
  std::optional<engine::GradientRequest> begin_round(bool measure_mass);
  void end_round();

  /// Wait until all rounds have happened and are accounted for. Throws as run_round does.
  void settle() const;

  /// `settle`, and throws RunFailed if a model is not finite, naming the peer.
  void check_finite() const;

  /// Score every peer's model and their average. Throws RunFailed as run_round does.
  Metrics evaluate();

  /// All that a restart needs, algorithm and optimizer included; to be read when settled.
  void state(backend::StateList& list);
  void restored() { algorithm_->restored(); }

  std::size_t peers() const { return schedule_->peers(); }
  const Layout& layout() const { return objective_->layout(); }
  const engine::Objective& objective() const { return *objective_; }
  const algorithm::Algorithm& algorithm() const { return *algorithm_; }
  const graph::Facts& graph() const { return facts_; }
  const backend::Kernels& kernels() const { return kernels_; }
  backend::Kernels& kernels_for_state() { return kernels_; }  ///< to save and restore with
  std::size_t threads() const { return machine_->pool().threads(); }
  std::size_t batch() const { return objective_->batch(); }
  std::uint64_t rounds_per_epoch() const { return objective_->rounds_per_epoch(); }
  Traffic traffic() const;           ///< of settled rounds
  std::string graph_sha256() const;  ///< of the edges of one period

  /// The model of one peer (z), copied out.
  std::vector<float> model(std::size_t peer) const;
  /// The mean of all peers' models.
  std::vector<float> average_model() const;

 private:
  void start_from(const std::string& init);
  void step();
  void emit();
  void gossip();
  void average();
  std::span<double> norms_of(backend::ConstBlock rows) const;

  std::shared_ptr<Machine> machine_;  ///< shared by the simulations of a fleet
  backend::Kernels& kernels_;
  std::unique_ptr<graph::Schedule> schedule_;
  graph::Facts facts_;
  std::unique_ptr<compress::Compressor> compressor_;
  std::unique_ptr<engine::Objective> objective_;
  std::unique_ptr<algorithm::BankCompressor> bank_compressor_;
  std::unique_ptr<algorithm::Algorithm> algorithm_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<LearningRate> rate_;
  std::unique_ptr<Accounts> accounts_;
  backend::Array gradient_;
  backend::LocalMassMeter meter_;

  std::uint64_t training_rounds_ = 0;
  std::uint64_t round_ = 0;
  // Of the round that has begun:
  algorithm::Plan plan_;
  bool measure_mass_ = false;
  algorithm::Outbox outbox_;
  algorithm::Exchange exchange_;
};

}  // namespace hearsay::train
