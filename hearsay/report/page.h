#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace hearsay::report {

/// One HTML page that opens from disk: no network, no script, figures as inline SVG, light or dark
/// as the reader likes it. The figures at the end in a table; then for each run accuracy (or
/// distance) of every peer over time, bytes, divergence, the graph, and who held which classes.
struct Page {
  std::string html;
  std::size_t runs = 0;
  std::vector<std::string> problems;  ///< directories left out, and why
};

/// Of several runs. The controls of a run (train/compare.h) come with it.
Page make_page(std::span<const std::string> directories);

/// RUN/report.html, whole or not at all. Throws RunFailed, and as the page's first problem says if
/// RUN holds no run.
void write_page(const std::filesystem::path& run);

}  // namespace hearsay::report
