#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::cli {

struct ProcessesOptions {
  std::size_t jobs = 1;   ///< runs at a time
  std::string threads{};  ///< of each run; empty: the cores, shared out
  bool quiet = false;
};

/// Train what is open of these, on the CPU, every run in a process of its own: one that crashes,
/// or runs out of memory, takes nothing from the others. Runs that were interrupted go on; those
/// that another process trains are waited for. A signal (stop.h) makes all save and stop.
///
/// Returns the exit status: 0, 1 if a run failed, kStopped.
int run_in_processes(std::span<const sweep::SweepRun> runs, const ProcessesOptions& options);

}  // namespace hearsay::cli
