#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hearsay/report/runs.h"

namespace hearsay::report {

/// One HTML page that opens from disk: works offline, in light or dark mode, on a phone and in
/// print. A table of the final results; then for each run its metrics, loss, consensus distance,
/// push-sum weights, mass drift and bytes, against rounds, bytes or simulated seconds as the reader
/// chooses; the graph, with edge widths by the bytes carried; which peer held which classes; the
/// cost per peer. Several runs: their curves overlaid, a metric against compression, and a sortable
/// table. Curves are drawn by an embedded script (Chart.js); tables, graph and classes need none.
struct Page {
  std::string html;  ///< empty if there is no run
  std::size_t runs = 0;
  std::vector<std::string> problems;  ///< what was skipped, with file and line, and why
};

struct PageOptions {
  /// To be served during the run: the page follows `/events` of its own server (docs/live.md). For
  /// a finished run, it makes no difference.
  bool live = false;
};

/// The page of several runs. The baselines of a run (run/compare.h) are included; a directory with
/// a sweep's record (*.sweep.json) stands for the runs of the sweep, and provides their labels and
/// the paper's numbers.
Page make_page(std::span<const std::string> directories, const PageOptions& options = {});
/// The same for runs that have been read already.
Page make_page(const Runs& runs, const PageOptions& options = {});

/// The part of a device's page that shows its fleet, as HTML (fleet_view.h): during the run it is
/// made anew, and replaced in the page. Empty if there is nothing to show.
std::string make_fleet_part(const std::filesystem::path& run);

/// Throws InvalidArgument if the file exists and is no page that hearsay wrote.
void check_page_path(const std::filesystem::path& file);

/// Writes RUN/report.html atomically. Throws RunFailed, with the page's first problem if RUN holds
/// no run.
void write_page(const std::filesystem::path& run);

}  // namespace hearsay::report
