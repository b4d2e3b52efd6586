#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "hearsay/peer/world/world.h"
#include "hearsay/run/metrics_file.h"
#include "hearsay/run/run.h"
#include "hearsay/run/run_lock.h"

namespace hearsay::run {

/// A run of asynchronous peers in virtual time (peer/world/world.h) and its directory, which is
/// that of `run` but for checkpoints: a simulation has none, and resuming it repeats it from the
/// start.
///
/// `evaluate` counts rounds of the fleet's clock. Rows of peers that are dead at an evaluation have
/// no figures, nor have liars, and the means are over those that live and are honest.
class AsynchronousRun final : public train::RunView {
 public:
  AsynchronousRun(const train::RunOptions& config, std::filesystem::path out, Observer& observer,
                  const train::RunParts& parts);

  /// Create the directory, or take over that of a run that was stopped; then run.
  Outcome begin();
  Outcome begin_again();

  std::uint64_t round() const override;
  std::uint64_t training_rounds() const override { return world_.training_rounds(); }
  std::uint32_t final_rounds() const override { return final_rounds_; }
  std::size_t peers() const override { return world_.peers(); }
  double averaging_rate() const override { return averaging_rate_; }
  const graph::Facts& graph() const override { return world_.graph(); }
  const engine::Objective& objective() const override { return *evaluator_; }
  backend::Kernels& kernels() const override { return machine_.kernels(); }
  std::size_t threads() const override { return machine_.pool().threads(); }
  gossip::Traffic traffic() const override;

 private:
  Outcome go_on();
  Outcome run_rounds();
  void evaluate();
  bool lies(std::uint32_t slot) const;
  std::vector<float> average() const;  ///< over honest peers that live
  Outcome finish();
  std::string summary(const std::string& models_sha256,
                      std::span<const Warning> warnings = {}) const;

  const train::RunOptions config_;
  const std::filesystem::path out_;
  Observer& observer_;
  RunLock lock_;
  peer::World world_;
  transport::Alone seat_;
  gossip::ProcessGroup group_;
  mutable gossip::Machine machine_;
  std::unique_ptr<engine::Objective> evaluator_;  ///< of averaged models
  MetricsFile metrics_;
  std::uint64_t evaluate_every_ = 1;
  std::uint32_t final_rounds_ = 0;
  double averaging_rate_ = 1;
  double seconds_ = 0;
  bool finished_ = false;
  std::optional<train::Metrics> last_;
  peer::WorldCounts counts_at_last_;  ///< evaluation
};

}  // namespace hearsay::run
