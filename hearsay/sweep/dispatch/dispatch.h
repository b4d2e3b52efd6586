#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearsay/run/run.h"
#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::sweep {

/// How a run of a sweep ended.
struct RunEnd {
  enum class How {
    kFinished,
    kFailed,
    kStopped,    ///< at the observer's request, before it began or after saving a checkpoint
    kElsewhere,  ///< another process trains it
  };
  How how = How::kStopped;
  std::string message{};    ///< why it failed, or a finished run's warnings; else empty
  std::uint64_t round = 0;  ///< completed rounds of a run that was stopped in this process; else 0
};

/// Callbacks of a sweep, from the thread that called train_runs. The runs are elements of its
/// argument.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void began(const SweepRun& /*run*/, bool /*resumed*/) {}
  /// Every run ends, also one that did not begin: because it is finished already, or trained by
  /// another process. After kElsewhere it may begin and end again.
  virtual void ended(const SweepRun& /*run*/, const RunEnd& /*end*/) {}
  /// About once per second while runs are in processes of their own. `elsewhere`: the number of
  /// runs that wait for another process.
  virtual void waiting(std::size_t /*elsewhere*/) {}
  /// Polled: whether all runs should save and stop. Once true, a sweep does not go on.
  virtual bool stop_requested() { return false; }
  /// The observer of a run that is trained in this process. Its stop_requested stops that run; the
  /// default one asks this object's.
  virtual std::unique_ptr<run::Observer> observe(const SweepRun& run);
};

/// Where the runs of a sweep are trained.
struct DispatchOptions {
  /// The program `hearsay`, which then trains every run on the CPU in a process of its own: one
  /// that crashes, or runs out of memory, does not affect the others. Empty: in this process.
  std::filesystem::path program{};
  std::size_t jobs = 1;  ///< processes at a time
  /// Of each run. Default: in processes a share of the cores, in this process the run's setting.
  std::optional<std::uint64_t> threads{};
};

struct SweepOutcome {
  std::vector<RunEnd> ends;  ///< of every run
  bool stopped = false;      ///< the observer requested it; the same call later goes on

  std::size_t count(RunEnd::How how) const;
};

/// Whether train_runs starts processes for these runs: there is a program, and no run is on a GPU.
bool in_processes(std::span<const SweepRun> runs, const DispatchOptions& options);

/// Throws InvalidArgument if these runs cannot be trained in this way: several jobs on a GPU, a
/// program that is not there, mpirun around processes of our own, and in this process runs with
/// `compare = yes`.
void check_dispatch(std::span<const SweepRun> runs, const DispatchOptions& options);

/// Trains the unfinished ones of these, resuming those that were interrupted. A run that fails does
/// not affect the others.
///
/// In processes, `jobs` at a time; runs that another process trains are waited for. In this process
/// one after another, on a GPU those that fit together side by side (run/fleet.h); runs that
/// another process trains are left to it.
///
/// Throws as check_dispatch does, before anything begins.
SweepOutcome train_runs(std::span<const SweepRun> runs, const DispatchOptions& options,
                        SweepObserver& observer);

}  // namespace hearsay::sweep
