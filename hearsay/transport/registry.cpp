#include "hearsay/transport/registry.h"

#include "hearsay/transport/alone.h"
#include "hearsay/transport/mpi/mpi.h"
#include "hearsay/transport/tls/tls.h"

namespace hearsay::transport {

namespace {

/// Calls make_mpi even if this build has no MPI: it then throws under mpirun, where otherwise each
/// process would do the whole run.
std::unique_ptr<Transport> make_auto(const Arguments&) {
  if (!started_by_mpirun()) return std::make_unique<Alone>();
  return make_mpi(Arguments("mpi", kMpiParameters));
}

constexpr Entry kRegistry[] = {
    {"auto", "auto", "mpi if mpirun started this process, else all peers in one", {}, make_auto},
    {"tls", "tls:fleet=fleet.toml,identity=n1.pem",
     "the processes of a fleet file, over mutual TLS", kTlsParameters, make_tls},
    {"mpi", "mpi:allreduce=fast", "the processes of an mpirun", kMpiParameters, make_mpi},
};

}  // namespace

Registry<Entry> registry() { return {"transport", kRegistry}; }

std::unique_ptr<Transport> make_transport(std::string_view spec) { return registry().make(spec); }

}  // namespace hearsay::transport
