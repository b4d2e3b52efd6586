#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

namespace hearsay::transport {

/// The cores that this process may run on: all of its host's, or those that a launcher bound it to.
cpu_set_t allowed_cores();

/// How many cores a process has if each is shared equally by the processes of the host that may run
/// on it; allowed[p]: those of process p.
double fair_share(const std::vector<cpu_set_t>& allowed, std::size_t process);

}  // namespace hearsay::transport
