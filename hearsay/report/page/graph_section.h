#pragma once

#include <string>

#include "hearsay/report/record.h"

namespace hearsay::report {

/// Who sends to whom, as HTML: the graph of a run, or all phases of a time-varying one, with edge
/// widths by the bytes they carried, and a note on what the widths mean. A graph that cannot be
/// drawn is described in words. Of more than 24 peers, up to 128, there is a matrix beside it,
/// which has room for five times as many edges.
///
/// The bytes of an edge are those of the whole run: for a time-varying graph what the run recorded
/// (Traffic::bytes_by_edge), otherwise the sender's bytes, divided evenly over its edges. At most
/// `most_edges` are drawn, over all phases.
std::string graph_section(const Record& record, std::size_t most_edges);

}  // namespace hearsay::report
