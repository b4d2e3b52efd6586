#pragma once

#include <filesystem>
#include <functional>

#include "hearsay/gossip/process_group.h"

namespace hearsay::cli {

/// A command that may run in several processes.
struct Run {
  gossip::ProcessGroup& group;
  std::filesystem::path out;  ///< once it is known
};

/// Calls `body` in this process, which is one of the transport's. Returns the exit status.
///
/// An error that all processes throw (ProcessGroup::agree) is reported by process 0; one that a
/// single process throws is reported by that process, which then aborts the others. On a signal
/// while process 0 waits for others, it prints how to resume: mpirun sends one when a process has
/// died, and kills soon after.
int in_all_processes(transport::Transport& transport, const std::function<int(Run&)>& body);

}  // namespace hearsay::cli
