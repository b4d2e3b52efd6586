#pragma once

#include <chrono>
#include <memory>

#include "hearsay/core/spec.h"
#include "hearsay/net/fleet.h"
#include "hearsay/transport/transport.h"

namespace hearsay::transport {

inline constexpr Parameter kTlsParameters[] = {
    {"fleet", "fleet.toml", "FILE", "the processes, in the order of their ranks"},
    {"identity", "identity.pem", "FILE", "the key of this process"},
    {"wait", "60", "[1, 86400]", "seconds to wait for the others to start"},
};

struct TlsParts {
  net::Identity identity;
  net::Fleet fleet;
  std::chrono::seconds wait{60};
};

/// Processes on hosts that need not trust the network between them: TLS 1.3 connections from each
/// to each (net/tls/endpoint.h), over which all must prove to be in the fleet file. Ranks are
/// slots. Bytes are pushed as soon as they are sent, and wait at the receiver.
///
/// A process whose connection breaks, or that is silent for half a minute, is gone for good. The
/// constructor waits for all, and the destructor until all others reach it or are gone, unless an
/// exception is propagating. Throws InvalidArgument if the fleet does not hold that key, and
/// RunFailed, naming them, if processes are missing when the time is over.
std::unique_ptr<Transport> make_tls_transport(TlsParts parts);
std::unique_ptr<Transport> make_tls(const Arguments& arguments);

}  // namespace hearsay::transport
