// Stands in for the MPI transport in builds without MPI.
#include "hearsay/core/error.h"
#include "hearsay/transport/mpi/mpi.h"

namespace hearsay::transport {

std::unique_ptr<Transport> make_mpi(const Arguments&) {
  throw InvalidArgument(
      "[mpi] this build has no MPI: Open MPI was missing when it was configured; install "
      "libopenmpi-dev and configure again, or run without mpirun");
}

}  // namespace hearsay::transport
