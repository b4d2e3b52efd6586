#pragma once

#include <cstdint>
#include <string>

namespace hearsay::live {

/// A TCP socket that listens for viewers. It is made before a run begins, so that a port in use is
/// an error before anything is written, and is passed to the server's process.
class Listener {
 public:
  /// `address`: numeric (127.0.0.1, ::1, 0.0.0.0) or localhost. Port 0: any free one. Throws
  /// InvalidArgument if it cannot listen there.
  Listener(const std::string& address, std::uint16_t port);

  /// A listening socket inherited as that descriptor. Throws RunFailed if it is not one.
  static Listener adopt(int descriptor);

  ~Listener();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;

  int descriptor() const { return descriptor_; }
  std::uint16_t port() const { return port_; }
  const std::string& address() const { return address_; }  ///< numeric
  bool loopback() const;                                   ///< reachable from this machine only

  /// "http://127.0.0.1:8080/", with "?token=..." if there is one. A wildcard address is replaced by
  /// the machine's name.
  std::string url(const std::string& token) const;

 private:
  explicit Listener(int descriptor) : descriptor_(descriptor) {}
  void look();

  int descriptor_ = -1;
  std::uint16_t port_ = 0;
  std::string address_;
};

}  // namespace hearsay::live
