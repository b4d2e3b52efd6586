#pragma once

#include <string>
#include <vector>

#include "hearsay/report/runs.h"

/// Pieces of a page as HTML, by themselves: page.cpp puts them together.
namespace hearsay::report {

/// What a run was, in one line: "scsp with topk:keep=0.01 on ring, 4 peers; digits, cnn, skew:0.8".
std::string words_of(const train::Config& config);

/// The figures that matter most, large. Their names (data-key) let a script change them while the
/// run goes on.
std::string tiles(const Record& record);

/// All figures at the end: a row a run and control. `sortable`: with settings to sort by, too.
std::string summary_table(const Runs& runs, bool sortable);

/// What is about the peers: the graph with at most so many edges, and who holds which classes.
std::string peers_of_run(const Record& record, const std::string& prefix, std::size_t most_edges);

/// The config, folded away.
std::string settings(const Record& record);

/// What curves can be drawn against: rounds, and what else some run has, or with `live` may come
/// to.
std::string chooser(const Runs& runs, bool live);

/// What was left out and why; nothing if that is nothing.
std::string problems_box(const std::vector<std::string>& problems);

}  // namespace hearsay::report
