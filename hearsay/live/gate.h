#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearsay::live {

/// 128 bits of the system's randomness, as 32 hexadecimal digits. Throws RunFailed.
std::string make_token();

/// Decides who may see a run.
///
/// Without a token, everyone who can reach the address and whose Host header is one of this
/// machine's own names: a foreign page whose name was made to point here (DNS rebinding) must not
/// read it. With a token, everyone who has it, under any name.
class Gate {
 public:
  /// `address`: the numeric address that the server listens on.
  Gate(std::string address, std::uint16_t port, std::string token);

  /// `host`: the request's Host header; `token`: its query parameter of that name.
  bool admits(std::string_view host, std::string_view token) const;

 private:
  std::string address_;
  std::uint16_t port_;
  std::string token_;
};

}  // namespace hearsay::live
