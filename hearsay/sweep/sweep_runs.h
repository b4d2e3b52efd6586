#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hearsay/sweep/sweep.h"

namespace hearsay::sweep {

/// One run of a sweep, and where it lies.
struct SweepRun {
  std::string label;  ///< of the first row that has it, with its seed
  train::Config config;
  std::filesystem::path out;
  bool wanted = true;  ///< by a row and for a seed that are to be trained now
};

/// The runs of a sweep. Rows with the same settings share theirs.
struct SweepRuns {
  std::vector<SweepRun> runs;                    ///< each config once, in the order of rows
  std::vector<std::vector<std::size_t>> of_row;  ///< indices of `runs`, one a seed
};

/// A run lies in OUT/LABEL-sSEED-HASH, with the first 8 digits of the config's hash. A directory
/// OUT/*-HASH whose config.toml has the same hash counts whatever its label: so sweeps with a
/// common OUT share runs, and one that was changed finds those that it still has.
SweepRuns runs_of(const Sweep& sweep, const std::filesystem::path& out);

/// Those that are to be trained now.
std::vector<SweepRun> wanted_runs(const SweepRuns& runs);

enum class RunState {
  kOpen,       ///< not begun
  kBegun,      ///< was interrupted
  kElsewhere,  ///< another process trains it now
  kFinished,
};

/// How far a run is just now: others may work in the same folder.
RunState state_of(const SweepRun& run);

/// How much of a run is done, in [0, 1], by the last evaluation in its metrics.jsonl.
double fraction_done(const SweepRun& run);

}  // namespace hearsay::sweep
