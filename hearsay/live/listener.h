#pragma once

#include <cstdint>
#include <string>

namespace hearsay::live {

/// A TCP socket that listens for viewers. It is made before a run begins, so that a port that is
/// taken is an error before anything is written, and goes to the server's process.
class Listener {
 public:
  /// `address`: digits (127.0.0.1, ::1, 0.0.0.0) or localhost. Port 0: any free one.
  /// Throws InvalidArgument if nobody can listen there.
  Listener(const std::string& address, std::uint16_t port);

  /// One that listens already, inherited as that descriptor. Throws RunFailed if it is none.
  static Listener adopt(int descriptor);

  ~Listener();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;

  int descriptor() const { return descriptor_; }
  std::uint16_t port() const { return port_; }
  const std::string& address() const { return address_; }  ///< digits
  bool loopback() const;                                   ///< reached from this machine alone

  /// "http://127.0.0.1:8080/", with "?token=..." if there is one. An address that stands for all of
  /// the machine's is replaced by its name.
  std::string url(const std::string& token) const;

 private:
  explicit Listener(int descriptor) : descriptor_(descriptor) {}
  void look();

  int descriptor_ = -1;
  std::uint16_t port_ = 0;
  std::string address_;
};

}  // namespace hearsay::live
