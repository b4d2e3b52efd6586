#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hearsay/report/fleet_view.h"
#include "hearsay/report/record.h"
#include "hearsay/report/sweep_table.h"
#include "hearsay/run/peer/settings.h"
#include "hearsay/sweep/sweep_record.h"

namespace hearsay::report {

/// The directory of one device, of a run that was joined from several (joined_run.h).
struct Device {
  std::string name;  ///< in the fleet file
  std::uint32_t slot = 0;
  Record record;
};

/// A run as shown by tables and pages.
struct ShownRun {
  Record record;
  std::string label;  ///< its row in a sweep; else what it has different from the others, or if
                      ///< that is nothing the directory
  std::vector<std::pair<std::string, Record>> controls;
  sweep::Place in_sweep{};  ///< of that row

  /// Which run of a fleet a directory is part of; none: it is a run of its own.
  std::optional<run::PlaceInRun> place{};
  /// What the device of that directory knows of its fleet; of a joined run the events of all.
  FleetView fleet{};
  std::vector<Device> devices{};     ///< of a joined run, slots ascending; else none
  std::vector<std::string> notes{};  ///< sentences on devices that are missing or not done
};

/// A sweep among the runs.
struct ShownSweep {
  sweep::SweepRecord record;
  SweepTable table;                            ///< of the runs that have finished
  std::vector<std::vector<std::size_t>> rows;  ///< for each row the indices of its existing runs
};

/// Runs that are equal but for their seeds (seeds.h).
struct SeedGroup {
  std::vector<std::size_t> runs;   ///< indices, seeds ascending; at least one
  std::optional<ShownRun> mean{};  ///< of two or more runs: of those that have finished, or if
                                   ///< none has of all. Its label: "sgp, 3 seeds"
};

/// The metrics of all runs, each once, those of the first run first. Their strings are owned by the
/// runs.
std::vector<engine::Metric> metrics_of(std::span<const ShownRun> runs);
std::vector<engine::Metric> metrics_of(std::span<const ShownRun* const> runs);

/// The input of a table or a page.
struct Runs {
  std::vector<ShownRun> runs;
  std::vector<ShownSweep> sweeps;
  std::vector<SeedGroup> groups;      ///< every run is in one
  std::vector<std::string> problems;  ///< skipped directories and lines, with file and line
};

/// A group as tables and charts show it: its mean, or its only run.
const ShownRun& shown_of(const Runs& runs, const SeedGroup& group);

/// Reads each directory: a run, or if it holds *.sweep.json the runs of these sweeps (also the path
/// of one such file), else all runs and sweeps below it (find_runs.h). Damaged or foreign ones are
/// skipped and named in `problems`; the others are still read. Runs of a sweep that have not begun
/// are not a problem. Directories of devices of the same run are joined to one, at the place of the
/// first (joined_run.h). Runs that are equal but for their seeds are grouped, and runs are named by
/// what differs between them (seeds.h).
Runs read_runs(std::span<const std::string> directories);

}  // namespace hearsay::report
