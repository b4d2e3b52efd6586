#pragma once

#include <filesystem>
#include <vector>

#include "hearsay/sweep/dispatch/dispatch.h"
#include "hearsay/sweep/sweep.h"
#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::sweep {

/// The runs of a sweep that are to be trained now, in directories of `out`; creates `out` and
/// writes the sweep's record there (sweep_record.h). Throws InvalidArgument, before anything is
/// written, if there is none, or if they cannot be trained in this way (check_dispatch).
std::vector<SweepRun> prepare_sweep(const Sweep& sweep, const std::filesystem::path& out,
                                    const DispatchOptions& options);

/// A whole sweep: prepare_sweep, then train_runs. Finished runs in `out` are kept, interrupted ones
/// resumed, so the same call after a stop or a crash goes on.
///
///   const sweep::Sweep sweep = sweep::read_sweep_file("rates.toml");
///   sweep::SweepObserver silent;
///   const sweep::SweepOutcome outcome = sweep::run_sweep(sweep, "runs/rates", {}, silent);
///
/// report/sweep_table.h makes the table from the record.
SweepOutcome run_sweep(const Sweep& sweep, const std::filesystem::path& out,
                       const DispatchOptions& options, SweepObserver& observer);

}  // namespace hearsay::sweep
