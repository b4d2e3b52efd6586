#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "hearsay/sweep/dispatch/dispatch.h"
#include "hearsay/sweep/sweep.h"
#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::sweep {

/// The runs of a sweep that are to be trained now, in directories of `out`; creates `out` and
/// writes the sweep's record there (sweep_record.h). Throws InvalidArgument, before anything is
/// written, if there is none, if they cannot be trained in this way (check_dispatch), and if some
/// of them cannot work (unfit.h): its text then has several lines.
std::vector<SweepRun> prepare_sweep(const Sweep& sweep, const std::filesystem::path& out,
                                    const DispatchOptions& options);

/// Writes to the record why runs of these failed. Throws RunFailed.
void record_failures(const Sweep& sweep, const std::filesystem::path& out,
                     std::span<const SweepRun> runs, const SweepOutcome& outcome);

/// A whole sweep: prepare_sweep, train_runs, record_failures. Finished runs in `out` are kept,
/// interrupted ones resumed, so the same call after a stop or a crash goes on.
///
///   const sweep::Sweep sweep = sweep::read_sweep_file("rates.toml");
///   sweep::SweepObserver silent;
///   const sweep::SweepOutcome outcome = sweep::run_sweep(sweep, "runs/rates", {}, silent);
///
/// report/sweep_table.h makes the table from the record.
SweepOutcome run_sweep(const Sweep& sweep, const std::filesystem::path& out,
                       const DispatchOptions& options, SweepObserver& observer);

}  // namespace hearsay::sweep
