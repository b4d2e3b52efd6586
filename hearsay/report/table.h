#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/report/runs.h"

namespace hearsay::report {

/// One cell: a text, and the number it represents, by which a table is sorted.
struct Cell {
  std::string text;
  double value = std::numeric_limits<double>::quiet_NaN();
};
using Cells = std::vector<std::vector<Cell>>;

/// The results of one finished run, from its summary.json: its metrics, loss, bytes, compression
/// factor, consensus distance, time. Of a table wider than 100 characters the columns that are
/// least needed are left out, unless it may be `wide`.
std::string run_table(std::string_view summary_json, bool wide = true);

/// Names the sum of the bytes over edges and those of global averages, where a key is wanted.
constexpr const char* kAllBytes = "bytes_total+global_bytes_total";

/// A summary.json with a name.
struct NamedSummary {
  std::string name, json;
};
/// The results of several runs, or of means over seeds (seeds.h) as "91.57 +- 0.60": a header, then
/// one row each. Columns that no run has are omitted.
Cells summary_cells(std::span<const NamedSummary> summaries);

/// The run in a directory beside its baselines (run/compare.h), to show the gain from
/// communication. Omits what is missing, and baselines of other settings.
std::string control_table(const std::filesystem::path& run);

/// The seeds of one setting: a row for each, and one of their mean and standard deviation.
std::string seeds_table(const Runs& runs);

/// Several runs side by side, seeds of one setting as one; a run that has not finished is
/// represented by its last evaluation.
struct Comparison {
  std::string table;
  std::size_t runs = 0;
  std::vector<std::string> problems;  ///< what was skipped, and why
};

Comparison compare_runs(const Runs& runs, bool wide = true);  ///< `wide`: as in run_table
/// The same for directories, which are read first (runs.h).
Comparison compare_runs(std::span<const std::string> directories, bool wide = true);

}  // namespace hearsay::report
