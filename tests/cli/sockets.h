#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

/// TCP sockets of tests, on 127.x.y.z. None of them blocks.
namespace hearsay::cli {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  /// Closing it resets the connection, and drops what has not been sent.
  void reset_when_closed() const {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  }

 private:
  int descriptor_ = -1;
};

struct Place {
  std::string host;
  std::uint16_t port = 0;
};

inline sockaddr_in address_of(const Place& place) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(place.port);
  ::inet_pton(AF_INET, place.host.c_str(), &address.sin_addr);
  return address;
}

inline Socket make_socket() {
  return Socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// None if the place is taken.
inline Socket listen_at(const Place& place) {
  Socket socket = make_socket();
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const sockaddr_in address = address_of(place);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return {};
  }
  ::listen(socket.get(), 128);
  return socket;
}

inline Socket accept_from(const Socket& listener) {
  return Socket(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

/// A connection that has begun, from that address if one is given.
inline Socket connect_to(const Place& place, const std::string& from = "") {
  Socket socket = make_socket();
  if (!from.empty()) {
    const sockaddr_in own = address_of({from, 0});
    ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof(own));
  }
  const sockaddr_in address = address_of(place);
  ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return socket;
}

}  // namespace hearsay::cli
