#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hearsay/sweep/sweep.h"
#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::sweep {

/// The record of a sweep next to its runs, in OUT/NAME.sweep.json: tables and pages are made from
/// it, without the sweep file, which they do not name. Rows have no configs here, but the
/// directories of their runs.
///
///   {"v": 1, "title": .., "source": .., "note": .., "quick": false, "banner": "",
///    "axes": ["skew"],
///    "figures": [{"name": "SP", "key": "accuracy_mean", "at": "trained", "unit": "%",
///                 "digits": 2, "scale": 1}],          and, unless 0 or empty,
///                                                     window, squared, against, above
///    "rows": [{"label": "1 %, skew 0.8", "place": {"row": "1 %", "skew": "0.8"},
///              "runs": ["1-skew-0.8-s1-6e0b2d31"], "printed": {"SP": 90.68}, "missing": ""}],
///    "differences": [{"label": .., "from": {"row": .., "skew": .., "figure": ..}, "minus": {..},
///                     "relation": "is" | "about" | "at most", "printed": 7}],
///    "failed": {"1-skew-0.8-s1-6e0b2d31": "[train] the loss of peer 2 is nan .."}}   unless none
///
/// `at` is "end", "trained" or a round number. Places are read row first, then in the order of
/// `axes`.
struct SweepRecord {
  using Failures = std::map<std::string, std::string>;  ///< name of a run's directory -> why

  Sweep sweep;
  std::vector<std::vector<std::filesystem::path>> runs;  ///< of every row, including OUT
  Failures failed;  ///< of the last attempt; a run may have finished since
};

/// OUT/NAME.sweep.json, with the sweep's name_of.
std::filesystem::path record_path(const Sweep& sweep, const std::filesystem::path& out);

/// Writes atomically. Throws RunFailed.
void write_sweep_record(const std::filesystem::path& file, const Sweep& sweep,
                        const SweepRuns& runs, const SweepRecord::Failures& failed = {});

/// Throws CorruptData with the file's name if it is not such a record.
SweepRecord read_sweep_record(const std::filesystem::path& file);

}  // namespace hearsay::sweep
