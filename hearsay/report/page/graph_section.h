#pragma once

#include <string>

#include "hearsay/report/record.h"

namespace hearsay::report {

/// Who talks to whom, as HTML: the graph of a run, or all phases of one that changes, edges as wide
/// as the bytes that they carried, and below it what the widths mean. A graph that cannot be drawn
/// is told in words.
///
/// The bytes of an edge are those of the whole run: of a graph that changes what the run recorded
/// (Traffic::bytes_by_edge), otherwise the sender's, shared evenly over its edges. At most
/// `most_edges` are drawn, over all phases.
std::string graph_section(const Record& record, std::size_t most_edges);

}  // namespace hearsay::report
