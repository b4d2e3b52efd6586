#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearsay::live {

/// 128 bits of the system's randomness, as 32 hexadecimal digits. Throws RunFailed.
std::string make_token();

/// Who may see a run.
///
/// Without a token, whoever can reach the address, if the browser asks for it by a name of this
/// machine's own: a page elsewhere whose name was made to point here (DNS rebinding) must not read
/// it. With a token, whoever has it, by any name.
class Gate {
 public:
  /// `address`: that the server listens on, as digits.
  Gate(std::string address, std::uint16_t port, std::string token);

  /// `host`: what the request gives as Host; `token`: its parameter of that name.
  bool admits(std::string_view host, std::string_view token) const;

 private:
  std::string address_;
  std::uint16_t port_;
  std::string token_;
};

}  // namespace hearsay::live
