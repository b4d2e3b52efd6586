#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearsay::net {

/// "10.0.0.13:7420", "[fd00::13]:7420", "pi-3.local:7420".
struct Address {
  std::string host;  ///< in lower case; an IPv6 address without brackets, in its shortest form
  std::uint16_t port = 0;

  bool operator==(const Address&) const = default;
};

/// HOST:PORT: an IPv4 address, an IPv6 address in brackets, or a name (RFC 1123, and underscores);
/// ports from 0, which is for listening only. Throws InvalidArgument, "[address] ...".
Address parse_address(std::string_view text);

std::string to_text(const Address& address);

}  // namespace hearsay::net
