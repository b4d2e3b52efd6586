#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearsay/report/record.h"
#include "hearsay/sweep/sweep_record.h"

namespace hearsay::report {

/// One figure of one row.
struct SweepCell {
  std::vector<double> ours;       ///< by seed, of the runs that have finished and have it; of a
                                  ///< figure against another row one: the ratio of means
  std::optional<double> printed;  ///< the paper's value
  bool beyond = false;            ///< a transient stage that outlasts the runs: at least `ours`

  std::optional<double> mean() const;
  double spread() const;  ///< sample standard deviation over the seeds; 0 of fewer than two
};

/// The results of the runs of a sweep so far.
struct SweepTable {
  std::vector<std::vector<SweepCell>> cells;  ///< [row][figure]
  std::vector<std::size_t> finished;          ///< runs of a row
};

/// `runs`: for each row those that could be read; only finished ones count.
SweepTable tabulate(const sweep::SweepRecord& record,
                    const std::vector<std::vector<const Record*>>& runs);

/// A header, then one line per row: label, and for every figure "91.02 +- 0.35" (mean and standard
/// deviation over seeds), the paper's "90.68" and the difference "+0.34" where it prints one, then
/// the number of seeds. '-' marks a missing value; figures that no row has are omitted.
std::vector<std::vector<std::string>> sweep_rows(const sweep::SweepRecord& record,
                                                 const SweepTable& table);

/// The differences of the sweep in the same form; empty if it has none.
std::vector<std::vector<std::string>> difference_rows(const sweep::SweepRecord& record,
                                                      const SweepTable& table);

/// Everything as text: title, source, the banner of a quick profile, both tables, what was not run
/// and why, the note. `markdown`: tables in Markdown.
std::string sweep_text(const sweep::SweepRecord& record, const SweepTable& table, bool markdown);

}  // namespace hearsay::report
