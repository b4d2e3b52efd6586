#pragma once

#include <string>
#include <vector>

#include "hearsay/report/runs.h"

/// Pieces of a page as HTML; page.cpp assembles them.
namespace hearsay::report {

/// A run described in one line: "scsp with topk:keep=0.01 on ring, 4 peers; digits, cnn, skew:0.8".
std::string words_of(const train::RunOptions& config);

/// The most important results in large type. Their names (data-key) let a script update them during
/// the run.
std::string tiles(const Record& record);

/// All final results: one row per run and baseline. `sortable`: includes settings to sort by.
std::string summary_table(const Runs& runs, bool sortable);

/// The part about the peers: the graph with at most so many edges, and the class counts of each
/// peer.
std::string peers_of_run(const Record& record, const std::string& prefix, std::size_t most_edges);

/// What a device knows of its fleet: a table of the peers, and the newest events. Without a title:
/// during the run, a script replaces it (assets/live.js).
std::string fleet_part(const FleetView& fleet);
/// The devices of a joined run, and the notes on it; empty for others.
std::string devices_part(const ShownRun& run);
/// The newest events of several devices, in one table; empty if there are none.
std::string events_part(const FleetView& fleet, std::size_t most);

/// The config, collapsed.
std::string settings(const Record& record);

/// The choice of horizontal axis: rounds, and those others that some run has, or with `live` may
/// get.
std::string chooser(const Runs& runs, bool live);

/// What went wrong in the run and what to try; empty if nothing did.
std::string warnings_box(const Record& record);

/// What was skipped and why; empty if there were no problems.
std::string problems_box(const std::vector<std::string>& problems);

}  // namespace hearsay::report
