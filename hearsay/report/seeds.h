#pragma once

#include <span>
#include <string>

#include "hearsay/report/runs.h"

/// Runs that are equal but for their seeds, as one.
namespace hearsay::report {

/// Groups the runs, in the order of their first ones, and names those that have no label of a sweep
/// by what differs between them (run_names.h). Runs of which the same seed occurs twice are no
/// group: each stays alone, with its directory in its name. So do devices of a fleet.
void group_seeds(Runs& runs);

/// The mean of two or more runs that differ in their seeds, as a record:
///
///   columns   of the means over peers, the loss, bytes and time: the mean over seeds at the rounds
///             that all were evaluated at. KEY_low and KEY_high: less and plus one standard
///             deviation
///   summary   the means of those numbers that all runs have; `deviation`: their sample standard
///             deviations by key; `n` and `seeds`
///
/// A value that is not finite in one run is not finite in the mean.
Record mean_record(const std::string& name, std::span<const Record* const> runs);

constexpr const char* kLowSuffix = "_low";
constexpr const char* kHighSuffix = "_high";

/// The summaries of all groups, one after another: names, numbers, standard deviations; and the
/// figures of the sweeps, by row. For programs; docs/pages.md has the form.
std::string results_json(const Runs& runs);

}  // namespace hearsay::report
