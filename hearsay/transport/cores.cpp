#include "hearsay/transport/cores.h"

#include <algorithm>

namespace hearsay::transport {

cpu_set_t allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_SET(0, &allowed);
  return allowed;
}

double fair_share(const std::vector<cpu_set_t>& allowed, std::size_t process) {
  double cores = 0;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    const auto sharing = std::ranges::count_if(
        allowed, [&](const cpu_set_t& set) { return CPU_ISSET(core, &set) != 0; });
    if (CPU_ISSET(core, &allowed[process])) cores += 1 / static_cast<double>(sharing);
  }
  return cores;
}

}  // namespace hearsay::transport
