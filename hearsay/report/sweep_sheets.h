#pragma once

#include <string>
#include <vector>

#include "hearsay/report/sweep_table.h"

namespace hearsay::report {

/// A table of a sweep; the first row is the header.
struct SweepSheet {
  std::string title;  ///< "SP %, by skew; 3 seeds"; empty if there is only one table
  std::vector<std::vector<std::string>> rows;
};

/// The tables of a sweep as a paper prints them. With axes one for each figure, "by" the last of
/// the axes that has several values: these are the columns, and what is left of a place (the row,
/// the other axes) the rows. A cell is a figure's text, "91.02 +- 0.35", and in parentheses the
/// paper's value where it prints one; it is blank where the sweep has no such combination. Where
/// rows differ in their number of seeds, a last table has these.
///
/// One table with a line per combination and all figures (sweep_rows) if there is nothing to cross,
/// or if the columns of no axis fit into 100 characters.
std::vector<SweepSheet> sweep_sheets(const sweep::SweepRecord& record, const SweepTable& table);

}  // namespace hearsay::report
