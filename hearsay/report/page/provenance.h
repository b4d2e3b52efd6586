#pragma once

#include <span>
#include <string>

#include "hearsay/report/runs.h"

namespace hearsay::report {

/// "scsp on digits, 4 peers": the title of a run, without its directory.
std::string heading_of(const train::RunOptions& config);

/// The command that repeats a run: `hearsay train` with every option that changes results and is
/// not the default, quoted for a shell.
std::string command_of(const train::RunOptions& config);

/// Where the numbers of a page come from, as an HTML list: of one run its directory, of all when
/// they ended, the hosts and the versions; what files do not say is left out.
std::string provenance(std::span<const ShownRun> runs);

/// The command of a run, as HTML; empty for a device of a fleet, whose run is no command.
std::string repeat_part(const ShownRun& run);

}  // namespace hearsay::report
