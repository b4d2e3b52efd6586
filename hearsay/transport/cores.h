#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

namespace hearsay::transport {

/// The cores that this process may run on: all cores of its host, or those a launcher bound it to.
cpu_set_t allowed_cores();

/// The number of cores of a process if each core is shared equally by the processes of the host
/// that may run on it; allowed[p]: the cores of process p.
double fair_share(const std::vector<cpu_set_t>& allowed, std::size_t process);

}  // namespace hearsay::transport
