#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hearsay/sweep/sweep.h"

namespace hearsay::sweep {

/// One run of a sweep and its directory.
struct SweepRun {
  std::string label;  ///< of the first row that has it, with its seed; of several that differ in
                      ///< axes alone what they have in common
  train::RunOptions config;
  std::filesystem::path out;
  bool wanted = true;  ///< by a row and for a seed that are to be trained now
};

/// The runs of a sweep. Rows with the same settings share theirs.
struct SweepRuns {
  std::vector<SweepRun> runs;                    ///< each config once, in the order of rows
  std::vector<std::vector<std::size_t>> of_row;  ///< indices into `runs`, one per seed
};

/// The directory of a run is OUT/LABEL-sSEED-HASH, with the first 8 digits of the config's hash. A
/// directory OUT/*-HASH whose config.toml has the same hash is used whatever its label: so sweeps
/// with a common OUT share runs, and an edited sweep finds those that it still needs.
SweepRuns runs_of(const Sweep& sweep, const std::filesystem::path& out);

/// The runs that are to be trained now.
std::vector<SweepRun> wanted_runs(const SweepRuns& runs);

enum class RunState {
  kOpen,       ///< not begun
  kBegun,      ///< was interrupted
  kElsewhere,  ///< another process is training it now
  kFinished,
};

/// The current state of a run: other processes may work in the same folder.
RunState state_of(const SweepRun& run);

/// The fraction of a run that is done, in [0, 1], by the last evaluation in its metrics.jsonl.
double fraction_done(const SweepRun& run);

}  // namespace hearsay::sweep
