#include <cstdlib>

#include "hearsay/transport/mpi/mpi.h"

namespace hearsay::transport {

bool started_by_mpirun() {
  // Set by mpirun, and by a scheduler's own launcher (srun --mpi=pmix).
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace hearsay::transport
