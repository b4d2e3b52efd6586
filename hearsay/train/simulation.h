#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/backend/mass_meter.h"
#include "hearsay/backend/state.h"
#include "hearsay/compress/compressor.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/engine/objective.h"
#include "hearsay/graph/facts.h"
#include "hearsay/graph/schedule.h"
#include "hearsay/train/config.h"
#include "hearsay/train/learning_rate.h"
#include "hearsay/train/link.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/optimizer.h"

namespace hearsay::train {

/// The setting `threads`: 0 is one a core.
std::size_t thread_count(std::uint64_t wanted);

/// All n peers of a run in one process, round by round.
///
/// Everything that happens is a function of the config: the same config gives bit-identical models
/// for any number of threads, and after a restart from `state()`.
class Simulation {
 public:
  /// Builds and checks everything before the first step. `config` must be resolved. Throws
  /// InvalidArgument.
  explicit Simulation(const Config& config);
  ~Simulation();

  std::uint64_t round() const { return round_; }  ///< rounds done
  std::uint64_t training_rounds() const { return training_rounds_; }
  std::uint64_t total_rounds() const;  ///< with the method's final ones

  /// Run one round. `measure_mass`: measure this round's mass drift (costs a few passes over the
  /// models). Throws RunFailed if a loss or a model is no longer finite, naming peer and round.
  void run_round(bool measure_mass);

  /// Throws RunFailed if a model is not finite, naming the peer.
  void check_finite() const;

  /// Score every peer's model and their average. Throws RunFailed as run_round does.
  Metrics evaluate();

  /// All that a restart needs, algorithm and optimizer included.
  void state(backend::StateList& list);
  void restored() { algorithm_->restored(); }

  std::size_t peers() const { return schedule_->peers(); }
  const Layout& layout() const { return objective_->layout(); }
  const engine::Objective& objective() const { return *objective_; }
  const algorithm::Algorithm& algorithm() const { return *algorithm_; }
  const graph::Facts& graph() const { return facts_; }
  const backend::Kernels& kernels() const { return *kernels_; }
  backend::Kernels& kernels_for_state() { return *kernels_; }  ///< to save and restore with
  std::size_t threads() const { return pool_.threads(); }
  std::size_t batch() const { return objective_->batch(); }
  std::uint64_t rounds_per_epoch() const { return objective_->rounds_per_epoch(); }
  const Traffic& traffic() const { return traffic_; }
  std::string graph_sha256() const;  ///< of the edges of one period

  /// The model of one peer (z), copied out.
  std::vector<float> model(std::size_t peer) const;
  /// The mean of all peers' models.
  std::vector<float> average_model() const;

 private:
  void start_from(const std::string& init);
  void gossip(const algorithm::Plan& plan);
  void check_finite(backend::ConstBlock rows, std::string_view what) const;

  ThreadPool pool_;
  std::unique_ptr<backend::Kernels> kernels_;
  std::unique_ptr<graph::Schedule> schedule_;
  graph::Facts facts_;
  std::unique_ptr<compress::Compressor> compressor_;
  std::unique_ptr<engine::Objective> objective_;
  std::unique_ptr<algorithm::BankCompressor> bank_compressor_;
  std::unique_ptr<algorithm::Algorithm> algorithm_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<LearningRate> rate_;
  std::unique_ptr<Link> link_;
  backend::Array gradient_;
  backend::MassMeter meter_;

  std::uint64_t training_rounds_ = 0;
  std::uint64_t round_ = 0;
  std::vector<double> losses_;  ///< of the last round, one a peer
  double loss_sum_ = 0;         ///< of all peers and rounds since the last evaluation
  std::uint64_t loss_rounds_ = 0;
  double train_loss_ = 0;  ///< of the last evaluation that had any
  double mass_drift_ = 0;
  Traffic traffic_;
  algorithm::Outbox outbox_;
  algorithm::Exchange exchange_;
};

}  // namespace hearsay::train
