#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "hearsay/checkpoint/checkpoint.h"
#include "hearsay/run/checkpoint_pace.h"
#include "hearsay/run/metrics_file.h"
#include "hearsay/run/run.h"
#include "hearsay/run/run_lock.h"
#include "hearsay/train/trainer.h"

namespace hearsay::run {

/// A run and its directory, round by round: used by `run` and `resume`, and by fleets for several
/// runs. Of several processes rank 0 writes the directory, except for the parts of checkpoints; all
/// of them call the same members in the same order.
///
///   Runner runner(config, out, observer);    all checks are made before the first file is written
///   runner.claim();                          or restore()
///   runner.start();
///   while (runner.goes_on()) {
///     ... one round of runner.trainer(), measured if runner.measures_next() ...
///     runner.after_round(seconds);
///   }
///   runner.outcome()
class Runner {
 public:
  /// Does not wait for other processes: an exception is thrown in this one only
  /// (ProcessGroup::agree).
  Runner(const train::RunOptions& config, std::filesystem::path out, Observer& observer,
         std::shared_ptr<gossip::Machine> machine, const train::RunParts& parts = {});

  /// Create the directory and its config.toml. Throws as `run` does if there is a run already.
  void claim();
  /// Continue from the newest good checkpoint, if there is one. Throws InvalidArgument while
  /// another process trains in the directory.
  void restore();
  void start();

  /// Whether there is a round to run. If not, the run is over: finished, or stopped at the request
  /// of its observer.
  bool goes_on();
  bool measures_next() const { return is_evaluated(trainer_->round() + 1); }
  train::Trainer& trainer() { return *trainer_; }
  /// To be called after each round, with its duration: evaluates, saves a checkpoint and calls the
  /// observer when due.
  void after_round(double seconds);

  const Outcome& outcome() const { return *outcome_; }

  /// The run ends with this error: writes failure.json, and returns it with settings to try.
  gossip::NotFinite failure(const gossip::NotFinite& error) const;

 private:
  bool is_evaluated(std::uint64_t round) const;
  bool is_saved(std::uint64_t round) const;
  bool is_due(std::uint64_t round) const;
  bool asked_to_stop() const;
  void evaluate();
  void save();
  void stop();
  void finish();
  std::string summary(const std::string& models_sha256,
                      std::span<const Warning> warnings = {}) const;
  void save_average() const;
  std::string save_peers() const;
  train::Metrics last() const { return last_.value_or(train::Metrics{}); }
  gossip::ProcessGroup& group() const { return trainer_->group(); }

  const train::RunOptions config_;
  const std::filesystem::path out_;
  Observer& observer_;
  RunLock lock_;  ///< held by rank 0
  std::unique_ptr<train::Trainer> trainer_;
  checkpoint::CheckpointStore checkpoints_;
  CheckpointPace pace_;
  MetricsFile metrics_;
  backend::StateList state_;
  std::uint64_t metrics_bytes_ = 0;
  double seconds_ = 0;
  std::optional<train::Metrics> last_;  ///< the last line of metrics.jsonl: complete on rank 0,
                                        ///< on other ranks empty after a restart
  std::uint64_t evaluate_every_ = 1, checkpoint_every_ = 1;
  std::optional<Outcome> outcome_;
};

}  // namespace hearsay::run
