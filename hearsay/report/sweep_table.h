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
  std::optional<double> printed;  ///< the paper's value; of a quick profile none, as it trains
                                  ///< something else
  bool beyond = false;            ///< a transient stage that outlasts the runs: at least `ours`

  std::optional<double> mean() const;
  double spread() const;  ///< sample standard deviation over the seeds; 0 of fewer than two
};

/// The results of the runs of a sweep so far.
struct SweepTable {
  std::vector<std::vector<SweepCell>> cells;  ///< [row][figure]
  std::vector<std::size_t> finished;          ///< runs of a row
  std::vector<std::string> failed;            ///< why one of a row has failed, or empty
};

/// `runs`: for each row those that could be read; only finished ones count.
SweepTable tabulate(const sweep::SweepRecord& record,
                    const std::vector<std::vector<const Record*>>& runs);

/// "SP %".
std::string with_unit(const sweep::Figure& figure);

/// "91.02 +- 0.35" (mean and standard deviation over seeds) of a figure of a row; "failed", or '-'
/// if there is none yet.
std::string cell_text(const sweep::SweepRecord& record, const SweepTable& table, std::size_t row,
                      std::size_t figure);

/// "2 of 3": how many of a row's runs have finished; '-' if it has none.
std::string seeds_text(const sweep::SweepRecord& record, const SweepTable& table, std::size_t row);

/// A header, then one line per row: label, and for every figure its text, the paper's "90.68" and
/// the difference "+0.34" where it prints one, then the number of seeds. '-' marks a missing value;
/// figures that no row has are omitted.
std::vector<std::vector<std::string>> sweep_rows(const sweep::SweepRecord& record,
                                                 const SweepTable& table);

/// The differences of the sweep in the same form; empty if it has none.
std::vector<std::vector<std::string>> difference_rows(const sweep::SweepRecord& record,
                                                      const SweepTable& table);

/// Everything as text: title, source, the banner of a quick profile, the tables (sweep_sheets.h)
/// and the differences, what was not run or failed and why, the note. `markdown`: tables in
/// Markdown. Others that are wider than 100 characters are folded (fit.h), unless they may be
/// `wide`.
std::string sweep_text(const sweep::SweepRecord& record, const SweepTable& table, bool markdown,
                       bool wide = true);

}  // namespace hearsay::report
