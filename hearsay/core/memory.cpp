#include "hearsay/core/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/text.h"

namespace hearsay {

double memory_limit() {
  double limit =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  for (const auto which : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit own{};
    if (::getrlimit(which, &own) == 0 && own.rlim_cur != RLIM_INFINITY) {
      limit = std::min(limit, static_cast<double>(own.rlim_cur));
    }
  }
  // Of the control group, as a container sees it; "max" is no number.
  double group = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> group) limit = std::min(limit, group);
  return limit;
}

void require_memory(double bytes, std::string_view where, std::string_view advice) {
  const double limit = memory_limit();
  if (bytes <= limit) return;
  throw InvalidArgument(fmt::format("[{}] needs {} of memory, and {} is all there is; {}", where,
                                    human_bytes(bytes), human_bytes(limit), advice));
}

}  // namespace hearsay
