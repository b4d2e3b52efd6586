#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::cli {

struct ProcessesOptions {
  std::size_t jobs = 1;   ///< runs at a time
  std::string threads{};  ///< of each run; empty: its share of the cores
  bool quiet = false;
};

/// Trains the unfinished ones of these, on the CPU, every run in a separate process: one that
/// crashes, or runs out of memory, does not affect the others. Interrupted runs are resumed; those
/// that another process trains are waited for. On a signal (stop.h) all save and stop.
///
/// Returns the exit status: 0, 1 if a run failed, kStopped.
int run_in_processes(std::span<const sweep::SweepRun> runs, const ProcessesOptions& options);

}  // namespace hearsay::cli
