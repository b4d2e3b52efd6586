// Stands in for peers on a network in builds without asio.
#include "hearsay/core/error.h"
#include "hearsay/net/tls/endpoint.h"

namespace hearsay::net {

class TlsEndpoint::Core {};

TlsEndpoint::TlsEndpoint(Parts) {
  throw InvalidArgument(
      "[net] this build has no network: the standalone asio was missing when it was configured; "
      "install libasio-dev and configure again");
}

TlsEndpoint::~TlsEndpoint() = default;
void TlsEndpoint::start() {}
std::uint32_t TlsEndpoint::slot() const { return 0; }
std::uint16_t TlsEndpoint::port() const { return 0; }
void TlsEndpoint::set_fleet(const Fleet&) {}
void TlsEndpoint::want(std::span<const std::uint32_t>) {}
bool TlsEndpoint::send(std::uint32_t, Bytes) { return false; }
void TlsEndpoint::close(std::uint32_t, const Bye&) {}
double TlsEndpoint::now() const { return 0; }

}  // namespace hearsay::net
