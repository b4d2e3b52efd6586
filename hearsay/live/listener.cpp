#include "hearsay/live/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::live {

namespace {

constexpr int kWaiting = 16;  // backlog: connections that the system queues until they are served

std::string hostname() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

}  // namespace

Listener::Listener(const std::string& address, std::uint16_t port) {
  const std::string digits = address == "localhost" ? "127.0.0.1" : address;
  sockaddr_in four{};
  sockaddr_in6 six{};
  four.sin_family = AF_INET;
  six.sin6_family = AF_INET6;
  four.sin_port = six.sin6_port = htons(port);
  const bool is_four = ::inet_pton(AF_INET, digits.c_str(), &four.sin_addr) == 1;
  if (!is_four && ::inet_pton(AF_INET6, digits.c_str(), &six.sin6_addr) != 1) {
    throw InvalidArgument(fmt::format(
        "[live] '{}' is no address; give localhost, or digits as 127.0.0.1, ::1 or 0.0.0.0",
        address));
  }
  const auto* where =
      is_four ? reinterpret_cast<const sockaddr*>(&four) : reinterpret_cast<const sockaddr*>(&six);
  descriptor_ = ::socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Not SO_REUSEPORT: two servers on one port would share the viewers of both.
  const int yes = 1;
  if (descriptor_ < 0 ||
      ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(descriptor_, where, is_four ? sizeof four : sizeof six) != 0 ||
      ::listen(descriptor_, kWaiting) != 0) {
    const int reason = errno;
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    throw InvalidArgument(fmt::format(
        "[live] cannot listen on port {} of {}: {}; {}", port, digits, std::strerror(reason),
        reason == EADDRNOTAVAIL ? "give an address of this machine, or 0.0.0.0 for all"
                                : "give another port, or 0 for any free one"));
  }
  look();
}

Listener Listener::adopt(int descriptor) {
  Listener listener(descriptor);
  int listens = 0;
  socklen_t size = sizeof listens;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) {
    listener.descriptor_ = -1;
    throw RunFailed(fmt::format("[live] descriptor {} is no socket that listens", descriptor));
  }
  listener.look();
  return listener;
}

Listener::Listener(Listener&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      port_(other.port_),
      address_(std::move(other.address_)) {}

Listener::~Listener() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Listener::look() {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  auto* address = reinterpret_cast<sockaddr*>(&bound);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  if (::getsockname(descriptor_, address, &size) != 0 ||
      ::getnameinfo(address, size, host.data(), host.size(), service.data(), service.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    throw RunFailed("[live] the system does not say where the socket listens");
  }
  address_ = host.data();
  std::from_chars(service.data(), service.data() + std::strlen(service.data()), port_);
}

bool Listener::loopback() const { return address_ == "::1" || address_.starts_with("127."); }

std::string Listener::url(const std::string& token) const {
  std::string host = address_.find(':') == std::string::npos ? address_ : "[" + address_ + "]";
  if (address_ == "0.0.0.0" || address_ == "::") host = hostname();
  return fmt::format("http://{}:{}/{}{}", host, port_, token.empty() ? "" : "?token=", token);
}

}  // namespace hearsay::live
