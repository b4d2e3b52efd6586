#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hearsay/core/random.h"
#include "hearsay/net/address.h"
#include "hearsay/net/tls/asio.h"

namespace hearsay::net {

/// One attempt to connect to an address, of at most kSeconds. On the io thread; it keeps itself
/// alive until it is over.
class Dial : public std::enable_shared_from_this<Dial> {
 public:
  static constexpr double kSeconds = 5;

  /// Is called once, unless the dial is cancelled, and not from within `start`. `why` is empty if
  /// the socket is connected.
  using Done = std::function<void(const std::string& why, asio::ip::tcp::socket socket)>;

  Dial(asio::io_context& io, Address address, Done done);
  void start();
  void cancel();
  /// So many seconds have passed.
  void tick(double seconds);

 private:
  void connect(asio::ip::tcp::resolver::results_type found);
  void finish(const std::string& why);

  asio::ip::tcp::resolver resolver_;
  asio::ip::tcp::socket socket_;
  Address address_;
  Done done_;  ///< empty: it is over
  double age_ = 0;
};

/// How long to wait before the next dial: 0.25 seconds, doubling up to 15, less up to a half at
/// random, so that peers that lost each other do not return in step.
class Backoff {
 public:
  static constexpr double kFirst = 0.25, kLast = 15;

  explicit Backoff(Random random) : random_(random) {}

  double next();
  /// A connection lasted so long: if longer than the last wait, waits begin anew.
  void lasted(double seconds);

 private:
  Random random_;
  double wait_ = kFirst;
};

}  // namespace hearsay::net
