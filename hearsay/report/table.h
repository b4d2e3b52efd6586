#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/report/runs.h"

namespace hearsay::report {

/// One cell: a text, and the number that it stands for where a table is sorted by it.
struct Cell {
  std::string text;
  double value = std::numeric_limits<double>::quiet_NaN();
};
using Cells = std::vector<std::vector<Cell>>;

/// The figures of one finished run, from its summary.json: its metrics, loss, bytes, compression
/// factor, divergence, time.
std::string run_table(std::string_view summary_json);

/// A summary.json under a name of its own.
struct NamedSummary {
  std::string name, json;
};
/// The figures of several runs: a head, then a row each. Columns that no run has are left out.
Cells summary_cells(std::span<const NamedSummary> summaries);

/// The run in a directory beside its controls (train/compare.h): what talking was worth. Leaves out
/// what is not there, and controls of other settings.
std::string control_table(const std::filesystem::path& run);

/// Several runs side by side, those that have not finished by their last evaluation.
struct Comparison {
  std::string table;
  std::size_t runs = 0;
  std::vector<std::string> problems;  ///< what was left out, and why
};

Comparison compare_runs(const Runs& runs);
/// Of directories: reads them first (runs.h).
Comparison compare_runs(std::span<const std::string> directories);

}  // namespace hearsay::report
