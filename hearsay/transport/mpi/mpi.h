#pragma once

#include <memory>

#include "hearsay/core/spec.h"
#include "hearsay/transport/transport.h"

namespace hearsay::transport {

inline constexpr Parameter kMpiParameters[] = {
    {"allreduce", "ordered", "ordered|fast",
     "global averages: bit-identical to one process, or as fast as MPI has them"},
};

/// Whether an Open MPI launcher started this process.
bool started_by_mpirun();

/// The rank that the launcher gave this process, available before MPI is initialized; 0 without a
/// launcher.
std::size_t launched_rank();

/// The processes of MPI_COMM_WORLD: non-blocking point-to-point messages, with preposted receives
/// where the receiver expects them, probed otherwise; a progress thread moves them while the caller
/// computes. `gone` is always empty: if a process dies, mpirun terminates all of them.
///
/// At most once per process. The destructor waits until all processes reach it, unless an exception
/// is propagating. Throws InvalidArgument if mpirun did not start this process, or if this build
/// has no MPI (no_mpi.cpp).
std::unique_ptr<Transport> make_mpi(const Arguments& arguments);

}  // namespace hearsay::transport
