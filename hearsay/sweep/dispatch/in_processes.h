#pragma once

#include <span>

#include "hearsay/sweep/dispatch/dispatch.h"

namespace hearsay::sweep {

/// The part of train_runs for runs in processes of their own: `options.program` trains each, as
/// `hearsay train --quiet --out DIR --KEY VALUE...` or `hearsay train --resume DIR`. A run that
/// another process trains, or took just before ours, stays in the queue until that has ended. On a
/// stop every process gets one SIGTERM, upon which it saves.
SweepOutcome train_in_processes(std::span<const SweepRun> runs, const DispatchOptions& options,
                                SweepObserver& observer);

}  // namespace hearsay::sweep
