#include <cstdlib>

#include "hearsay/transport/mpi/mpi.h"

namespace hearsay::transport {

bool started_by_mpirun() {
  // Set by mpirun, and by a scheduler's own launcher (srun --mpi=pmix).
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
}

std::size_t launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::strtoul(rank, nullptr, 10);
  }
  return 0;
}

}  // namespace hearsay::transport
