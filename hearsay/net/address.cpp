#include "hearsay/net/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <limits>
#include <optional>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::net {

namespace {

constexpr std::size_t kMostNameBytes = 253, kMostLabelBytes = 63;  // RFC 1123, 1035

[[noreturn]] void refuse_address(std::string_view text, std::string_view why) {
  throw InvalidArgument(
      fmt::format("[address] '{}' {}; an address is HOST:PORT, as in 10.0.0.13:7420, "
                  "[fd00::13]:7420 or pi-3.local:7420",
                  text, why));
}

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  const bool whole = error == std::errc() && stop == end;
  const bool padded = text.size() > 1 && text.front() == '0';
  return whole && !padded ? std::optional(port) : std::nullopt;
}

/// In its shortest form; empty: it is none.
std::string read_ipv6(std::string_view text) {
  if (text.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos) return {};
  in6_addr address{};
  if (::inet_pton(AF_INET6, std::string(text).c_str(), &address) != 1) return {};
  std::array<char, INET6_ADDRSTRLEN> shortest{};
  return ::inet_ntop(AF_INET6, &address, shortest.data(), shortest.size());
}

bool is_ipv4(std::string_view text) {
  in_addr address{};
  return text.find_first_not_of("0123456789.") == std::string_view::npos &&
         ::inet_pton(AF_INET, std::string(text).c_str(), &address) == 1;
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kMostLabelBytes && label.front() != '-' &&
         label.back() != '-' &&
         label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") ==
             std::string_view::npos;
}

/// In lower case. Names that end in a number are IPv4 addresses, or none.
bool is_name(std::string_view text) {
  if (text.size() > kMostNameBytes) return false;
  for (;;) {
    const std::size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (!is_label(label)) return false;
    if (dot == std::string_view::npos) {
      return label.find_first_not_of("0123456789") != std::string_view::npos;
    }
    text.remove_prefix(dot + 1);
  }
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace

Address parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool brackets = text.starts_with('[');
  const std::size_t close = brackets ? text.find(']') : std::string_view::npos;
  if (brackets && close == std::string_view::npos) refuse_address(text, "has no ']'");
  if (colon == std::string_view::npos || (brackets && colon < close)) {
    refuse_address(text, "has no port");
  }
  const std::string_view host = text.substr(0, colon);
  if (host.empty()) refuse_address(text, "has no host");
  const std::string_view port_text = text.substr(colon + 1);
  Address address;
  if (brackets) {
    const std::string_view within = text.substr(1, close - 1);
    if (close + 1 == colon) address.host = read_ipv6(within);
    if (address.host.empty()) refuse_address(text, "has no IPv6 address in its brackets");
  } else {
    if (host.find(':') != std::string_view::npos) {
      refuse_address(text, "has an IPv6 address without brackets");
    }
    address.host = lower_case(host);
    if (!is_ipv4(address.host) && !is_name(address.host)) {
      refuse_address(text,
                     fmt::format("has the host '{}', which is no IP address and no name", host));
    }
  }
  const std::optional<std::uint16_t> port = read_port(port_text);
  if (!port) {
    refuse_address(text, fmt::format("has the port '{}', which is not in 0 to {}", port_text,
                                     std::numeric_limits<std::uint16_t>::max()));
  }
  address.port = *port;
  return address;
}

std::string to_text(const Address& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", address.host, brackets ? "]" : "",
                     address.port);
}

}  // namespace hearsay::net
