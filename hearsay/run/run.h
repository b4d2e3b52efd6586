#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hearsay/core/error.h"
#include "hearsay/gossip/process_group.h"
#include "hearsay/run/diagnosis.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/run_parts.h"
#include "hearsay/train/run_view.h"

namespace hearsay::run {

/// Callbacks of a run. All calls come from the thread that called `run`.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Of a peer on a device: its directory is there, and it waits for the first of its neighbours.
  virtual void waiting() {}
  virtual void started(const train::RunView&, const train::RunOptions&) {}
  virtual void resumed(std::uint64_t /*round*/, const std::vector<std::string>& /*damaged*/) {}
  virtual void progressed(const train::RunView&) {}
  virtual void evaluated(const train::RunView&, const train::Metrics&) {}
  /// Polled before every round: whether to checkpoint and stop here. With several processes each is
  /// polled, and all stop at the next evaluation or checkpoint.
  virtual bool stop_requested() { return false; }
};

/// How a run ended: the contents of summary.json and of the CLI's output.
struct Outcome {
  train::Metrics last;      ///< the last evaluation; for a stopped run not always of its last round
  std::uint64_t round = 0;  ///< completed rounds
  std::string summary_json;
  bool finished = true;  ///< false: the observer requested a stop, and `resume` continues from here
  std::vector<Warning> warnings;  ///< of a finished run (diagnosis.h)
};

AlreadyExists directory_taken(const std::filesystem::path& out);

/// Throws InvalidArgument if `out` contains a run (AlreadyExists) or remains of one.
void check_free(const std::filesystem::path& out);

/// Train as configured (`config` must be resolved) into the directory `out`, which gets
///
///   config.toml     the resolved settings
///   metrics.jsonl   one line per evaluation
///   summary.json    at the end, with the run's warnings (diagnosis.h)
///   failure.json    if a model is no longer finite: where, and what to try
///   checkpoint/     see CheckpointStore
///   models/         average.safetensors and peer-K.safetensors at the end, with the running
///                   statistics of batch norm: each peer's own, re-estimated for the averaged model
///
/// A stopped run has a checkpoint of its last round, but neither summary nor models. It is not
/// evaluated once more, as that may take long.
///
/// Throws InvalidArgument if `out` already contains a run (AlreadyExists) or remains of one:
/// nothing is ever overwritten, even if several processes begin at once.
///
/// With a process group, this process holds some of the peers: all processes call this with the
/// same settings and the same `out`, on a shared file system. Rank 0 writes the files, reports
/// evaluations and has the outcome; on other ranks only `finished` and `round` are valid. Without a
/// group all peers are in this process.
///
/// `parts`: what the caller brings itself; `config` must have been resolved with them.
Outcome run(const train::RunOptions& config, const std::filesystem::path& out, Observer& observer,
            const train::RunParts& parts = {});
Outcome run(const train::RunOptions& config, const std::filesystem::path& out, Observer& observer,
            gossip::ProcessGroup& group, const train::RunParts& parts = {});

/// PARENT/001, 002, ...
std::filesystem::path numbered(const std::filesystem::path& parent, int number);

/// `run` into the first of `numbered` that does not exist: other processes may take one
/// concurrently. Sets `out` to it before the run starts.
Outcome run_in_new(const std::filesystem::path& parent, const train::RunOptions& config,
                   std::filesystem::path& out, Observer& observer, gossip::ProcessGroup& group,
                   const train::RunParts& parts = {});

/// Continue the run in `out` from its newest good checkpoint, or from the start if it has none. The
/// outcome is bit for bit that of an uninterrupted run. Throws CorruptData if files that it trains
/// on (data, graph) have changed since, and InvalidArgument while another process trains in `out`.
/// `threads` > 0 overrides the setting. The number of processes may differ from before. A run with
/// parts of its caller needs them again.
Outcome resume(const std::filesystem::path& out, std::uint64_t threads, Observer& observer,
               const train::RunParts& parts = {});
Outcome resume(const std::filesystem::path& out, std::uint64_t threads, Observer& observer,
               gossip::ProcessGroup& group, const train::RunParts& parts = {});

}  // namespace hearsay::run
