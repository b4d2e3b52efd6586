#pragma once

#include <string>

#include "hearsay/report/runs.h"
#include "hearsay/report/table.h"

/// The devices of joined runs (joined_run.h) as tables.
namespace hearsay::report {

/// A row per device of a joined run: state, metrics, loss, pace, weight, bytes.
Cells device_cells(const ShownRun& run);

/// Mean, least and greatest over the devices of each of these figures.
Cells range_cells(const ShownRun& run);

/// The devices, the notes and the newest events of all joined runs, for a terminal; empty if there
/// are none. Tables wider than 100 characters are folded (fit.h), unless they may be `wide`.
std::string devices_text(const Runs& runs, bool wide = true);

}  // namespace hearsay::report
