#pragma once

#include <span>

#include "hearsay/sweep/dispatch/dispatch.h"

namespace hearsay::sweep {

/// The part of train_runs for runs in this process: first the interrupted ones, one after another,
/// then the others in fleets (run/fleet.h).
SweepOutcome train_in_this_process(std::span<const SweepRun> runs, const DispatchOptions& options,
                                   SweepObserver& observer);

}  // namespace hearsay::sweep
