#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "hearsay/net/address.h"
#include "hearsay/net/tls/admission.h"
#include "hearsay/net/tls/asio.h"

namespace hearsay::net {

/// Accepts connections at an address. Those beyond the limits of Admission are closed at once. On
/// the io thread, but for the constructor and `port`.
class Listener {
 public:
  using Accepted = std::function<void(asio::ip::tcp::socket, std::shared_ptr<void> ticket)>;

  /// Listens, and accepts nothing yet. Throws InvalidArgument if it cannot listen there.
  Listener(asio::io_context& io, const Address& address, Accepted accepted);

  std::uint16_t port() const { return port_; }

  void start() { accept(); }
  void close();
  /// Tries again, if accepting failed: there were no descriptors left.
  void tick();

 private:
  void accept();

  asio::ip::tcp::acceptor acceptor_;
  Accepted accepted_;
  std::uint16_t port_ = 0;
  Admission admission_;
  bool failed_ = false;
};

}  // namespace hearsay::net
