#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hearsay/report/runs.h"

namespace hearsay::report {

/// One HTML page that opens from disk: no network, light or dark as the reader likes it, readable
/// on a phone and on paper. A table of the figures at the end; then for each run its metrics, loss,
/// divergence, push-sum weights, mass drift and bytes, against rounds, bytes or simulated seconds
/// as the reader chooses; the graph, with edges as wide as the bytes they carried; who held which
/// classes; what a peer costs. Several runs: their curves over each other, a metric against
/// compression, and a table that can be sorted. Curves are drawn by a script that the page carries
/// (Chart.js); tables, graph and classes need none.
struct Page {
  std::string html;  ///< empty if there is no run
  std::size_t runs = 0;
  std::vector<std::string> problems;  ///< what was left out, with file and line, and why
};

struct PageOptions {
  /// To be served while the run goes on: the page follows `/events` of its own server
  /// (docs/live.md). Of a run that has finished, the page is the same with or without.
  bool live = false;
};

/// Of several runs. The controls of a run (train/compare.h) come with it; a directory with a
/// sweep's record (*.sweep.json) stands for the runs of the sweep, and brings their labels and what
/// a paper prints of them.
Page make_page(std::span<const std::string> directories, const PageOptions& options = {});
/// Of runs that have been read.
Page make_page(const Runs& runs, const PageOptions& options = {});

/// RUN/report.html, whole or not at all. Throws RunFailed, and as the page's first problem says if
/// RUN holds no run.
void write_page(const std::filesystem::path& run);

}  // namespace hearsay::report
