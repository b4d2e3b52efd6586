#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "hearsay/core/registry.h"
#include "hearsay/transport/transport.h"

namespace hearsay::transport {

/// One row of the registry: a name for `--transport`.
using Entry = Row<std::unique_ptr<Transport>()>;

Registry<Entry> registry();

/// make_transport("mpi:allreduce=fast"). Throws InvalidArgument if the spec is invalid or not
/// available in this build or process.
std::unique_ptr<Transport> make_transport(std::string_view spec);

}  // namespace hearsay::transport
