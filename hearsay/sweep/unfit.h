#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hearsay/sweep/sweep.h"
#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::sweep {

/// Runs of a sweep that are to be trained now and cannot work, by reason.
struct Unfit {
  /// A row with the seeds that cannot work.
  struct Row {
    std::size_t row;  ///< index in Sweep::rows
    std::vector<std::uint64_t> seeds;
  };
  struct Group {
    std::string reason;
    std::vector<Row> rows;
  };
  std::vector<Group> groups;
  std::set<std::size_t> runs;  ///< indices in SweepRuns::runs
  std::size_t count = 0;       ///< of all such runs, also those whose settings exclude each other
};

/// Checks all runs that are to be trained now and have not begun, without training anything: by
/// train::resolve, and as their own start would (run/check.h).
Unfit find_unfit(const Sweep& sweep, const SweepRuns& runs);

/// What cannot work and why, every reason once with the labels of its rows, and how to write a
/// sweep without them: several lines, or empty if everything fits.
std::string unfit_text(const Sweep& sweep, const SweepRuns& runs, const Unfit& unfit);

}  // namespace hearsay::sweep
