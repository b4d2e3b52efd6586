#pragma once

#include <string>

#include "hearsay/report/runs.h"

/// The directories of several devices as one run.
namespace hearsay::report {

/// Joins the runs that are of devices of the same run of a fleet, two or more of them: their places
/// (run/peer/settings.h) have the same id and different slots. If two have the same slot they are
/// of two runs of the same fleet file, or a device has a second directory: then all of that id stay
/// as they are, and `problems` says so. Runs of sweeps stay as they are.
///
/// `round` is the fleet's clock. A joined run has a line for every clock at which any device was
/// evaluated (thinned out if these are too many); there each device counts with the last value that
/// is known of it, from its first evaluation on:
///
///   KEY_mean, loss, ...            mean over devices
///   KEY_min, KEY_max               least and greatest
///   KEY, push_sum, rates           lists by slot, for up to 64 peers
///   bytes_total and other counts   sums. A device counts from zero in each of its lives, which are
///                                  added up
///   live_peers                     as the devices see it that were evaluated at this clock
///   seconds                        the greatest
///
/// What only all models together would tell, as the averaged model and the consensus distance, is
/// left out. The run has finished when all these devices have.
void join_devices(Runs& runs);

/// The last value of a figure of a device, kAbsent if there is none; counts go on from life to
/// life.
double last_of(const Columns& columns, const std::string& key);
/// The bytes that it has sent, also those of global averages.
double bytes_of(const Columns& columns);

}  // namespace hearsay::report
