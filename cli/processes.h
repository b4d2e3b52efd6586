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

/// Calls `body` in this process, one of the transport's. Returns the exit status.
///
/// What all processes throw (ProcessGroup::agree) is said by process 0; what one of them throws
/// alone it says itself, and ends the others. A signal that comes while process 0 waits for others
/// is answered with how to go on: mpirun sends one when a process has died, and kills soon after.
int in_all_processes(transport::Transport& transport, const std::function<int(Run&)>& body);

}  // namespace hearsay::cli
