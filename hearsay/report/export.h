#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hearsay/report/runs.h"

/// The tables of a report for other programs: of each sweep, and of the runs that are in none.
namespace hearsay::report {

/// One table with a line for each row of a sweep and for each run or group of seeds, for programs
/// (RFC 4180, lines end in \n). Column names are lower case letters, digits and '_'; numbers have
/// all their digits; what is missing is empty. Columns:
///
///   table        the title of the sweep, or "runs"
///   name         label of the row, or name of the run
///   n            runs that the numbers are means of
///   of a sweep   the labels of its axes by their names; for each figure FIGURE, FIGURE_sd (the
///                sample standard deviation over seeds, from two on) and FIGURE_paper
///   of runs      finished (0 or 1), the settings that differ between them, and every number of
///                summary.json by its key: KEY and KEY_sd
std::string to_csv(const Runs& runs);

/// The tables as `tabular` environments of booktabs, to be pasted into a paper: mean and deviation
/// as $91.02 \pm 0.35$, texts escaped.
std::string to_latex(const Runs& runs);

/// The tables in Markdown, those of sweeps with their titles and notes.
std::string to_markdown(const Runs& runs);

using TextRows = std::vector<std::vector<std::string>>;  ///< the first is the header

std::string markdown_table(const TextRows& rows);
std::string latex_table(const TextRows& rows);
std::string escape_latex(std::string_view text);

}  // namespace hearsay::report
