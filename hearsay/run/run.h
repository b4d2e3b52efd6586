#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hearsay/core/error.h"
#include "hearsay/train/config.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/trainer.h"

namespace hearsay::run {

/// What a run tells while it goes on. All calls come from the thread that called `run`.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void started(const train::Trainer&, const train::Config&) {}
  virtual void resumed(std::uint64_t /*round*/, const std::vector<std::string>& /*damaged*/) {}
  virtual void progressed(const train::Trainer&) {}
  virtual void evaluated(const train::Trainer&, const train::Metrics&) {}
  /// Asked before every round: whether to checkpoint and stop here. Of several processes each is
  /// asked, and all stop when they next evaluate or checkpoint.
  virtual bool stop_requested() { return false; }
};

/// How a run ended. What goes to summary.json, and what the CLI prints.
struct Outcome {
  train::Metrics last;      ///< the last evaluation; of a stopped run not always of its last round
  std::uint64_t round = 0;  ///< rounds done
  std::string summary_json;
  bool finished = true;  ///< false: the observer asked to stop, and `resume` goes on from here
  std::string warning;   ///< empty, or a sentence: the run is finite but worse than its start
};

AlreadyExists directory_taken(const std::filesystem::path& out);

/// Throws InvalidArgument if `out` holds a run (AlreadyExists) or remains of one.
void check_free(const std::filesystem::path& out);

/// Train as `config` says (resolved), into the directory `out`, which gets
///
///   config.toml     the resolved settings
///   metrics.jsonl   a line an evaluation
///   summary.json    at the end
///   checkpoint/     see CheckpointStore
///   models/         average.safetensors and peer-K.safetensors at the end, with the running
///                   statistics of batch norm: a peer's own, for the average re-estimated
///
/// A run that was asked to stop has a checkpoint of its last round, and neither summary nor models.
/// It does not evaluate once more: that may take long.
///
/// Throws InvalidArgument if `out` already holds a run (AlreadyExists) or remains of one: nothing
/// is ever overwritten, also if several processes begin at once.
///
/// With a process group, this process holds some of the peers: all processes call this with the
/// same settings and the same `out`, which all see. Process 0 writes and tells, and has the
/// outcome; of the others' only `finished` and `round` are meant. Without one all peers are in this
/// process.
Outcome run(const train::Config& config, const std::filesystem::path& out, Observer& observer);
Outcome run(const train::Config& config, const std::filesystem::path& out, Observer& observer,
            gossip::ProcessGroup& group);

/// Go on with the run in `out` from its newest good checkpoint, or from the start if it has none.
/// The outcome is bit for bit that of an unbroken run. Throws CorruptData if files that it trains
/// on (data, graph) have changed since, and InvalidArgument while another process trains in `out`.
/// `threads` > 0 overrides the setting.
/// The number of processes may be another one than before.
Outcome resume(const std::filesystem::path& out, std::uint64_t threads, Observer& observer);
Outcome resume(const std::filesystem::path& out, std::uint64_t threads, Observer& observer,
               gossip::ProcessGroup& group);

}  // namespace hearsay::run
