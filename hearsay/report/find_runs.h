#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hearsay::report {

/// What a directory holds: run directories (with a config.toml or a metrics.jsonl), and records of
/// sweeps (*.sweep.json), which stand for the runs beside them.
struct FoundRuns {
  std::vector<std::filesystem::path> runs, sweeps;  ///< each by name
  std::vector<std::string> problems;  ///< "[report] runs: ...": what was not looked at
};

/// Looks for them in `directory` and below it. What lies in a run directory belongs to that run,
/// and so do the directories beside a sweep's record to the sweep: neither is looked into. Names
/// that begin with a dot are passed over; symbolic links are followed, each directory is visited
/// once. Bounded by the limits below.
FoundRuns find_runs(const std::filesystem::path& directory);

constexpr int kDeepestRuns = 8;                   ///< levels below the directory
constexpr std::size_t kMostDirectories = 20'000;  ///< that are visited
constexpr std::size_t kMostRunsFound = 1'000;

}  // namespace hearsay::report
