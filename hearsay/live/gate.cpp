#include "hearsay/live/gate.h"

#include <sys/random.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::live {

namespace {

/// Compares in a time that does not reveal how many characters match.
bool same(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

}  // namespace

std::string make_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw RunFailed("[live] the system gives no random bytes for a token");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Gate::Gate(std::string address, std::uint16_t port, std::string token)
    : address_(std::move(address)), port_(port), token_(std::move(token)) {}

bool Gate::admits(std::string_view host, std::string_view token) const {
  if (!token_.empty()) return same(token_, token);
  const bool six = address_.find(':') != std::string::npos;
  for (const std::string& name :
       {six ? fmt::format("[{}]", address_) : address_, std::string("localhost")}) {
    if (host == fmt::format("{}:{}", name, port_)) return true;
    if (port_ == 80 && host == name) return true;
  }
  return false;
}

}  // namespace hearsay::live
