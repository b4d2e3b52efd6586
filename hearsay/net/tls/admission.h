#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "hearsay/net/tls/asio.h"

namespace hearsay::net {

/// How many connections may be begun by others: at most kMost that are not up, kMostAnAddress of
/// them from one address (for IPv6, one network of 64 bits), kASecond a second, half of them from
/// one address. So one host alone keeps nobody out.
class Admission {
 public:
  static constexpr std::size_t kMost = 64, kMostAnAddress = 32;
  static constexpr std::size_t kASecond = 100, kASecondAnAddress = 50;

  /// A place, as long as somebody holds it; null: there is none. `now` in seconds. Places may
  /// outlive this object.
  std::shared_ptr<void> admit(const asio::ip::address& address, double now);

 private:
  using Network = std::array<std::uint8_t, 8>;
  using Counts = std::map<Network, std::size_t>;

  struct Places {
    std::size_t all = 0;
    Counts by_network{};
  };
  class Place;
  static Network network_of(const asio::ip::address& address);

  std::shared_ptr<Places> taken_ = std::make_shared<Places>();  ///< and by each Place
  Places begun_{};                                              ///< in the second from `since_` on
  double since_ = 0;
};

}  // namespace hearsay::net
