#pragma once

#include <memory>

#include "hearsay/core/spec.h"
#include "hearsay/transport/transport.h"

namespace hearsay::transport {

inline constexpr Parameter kMpiParameters[] = {
    {"allreduce", "ordered", "ordered|fast",
     "global averages: bit-identical to one process, or as fast as MPI has them"},
};

/// Whether a launcher of Open MPI started this process.
bool started_by_mpirun();

/// This process's number among those that the launcher started, known before any MPI is; 0 if there
/// is no launcher.
std::size_t launched_rank();

/// The processes of MPI_COMM_WORLD: non-blocking point-to-point messages, preposted where the
/// receiver expects them, probed otherwise; a thread moves them while the caller computes. Nobody
/// is ever gone: where a process dies, mpirun ends them all.
///
/// Once in the life of a process. Destroying it waits for all processes to do so, unless an
/// exception is on its way. Throws InvalidArgument if mpirun did not start this process, or if this
/// build has no MPI (no_mpi.cpp).
std::unique_ptr<Transport> make_mpi(const Arguments& arguments);

}  // namespace hearsay::transport
