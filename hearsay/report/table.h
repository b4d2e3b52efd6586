#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/report/html.h"
#include "hearsay/report/runs.h"

namespace hearsay::report {

/// "812 B", "16.3 kB", "1.08 MB": powers of 1000, three digits.
std::string human_bytes(double bytes);

/// "812", "16.3 k", "5.24 G": likewise.
std::string human_count(double count);

/// Columns of text, the first left-aligned, the others right-aligned; the first row is the head.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

/// The figures of one finished run, from its summary.json: accuracy or distance, bytes, compression
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
