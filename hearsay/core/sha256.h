#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "hearsay/core/bytes.h"

namespace hearsay {

/// SHA-256 of a stream of bytes (OpenSSL's). Checkpoints, config hashes and `models_sha256` use it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void update(const void* data, std::size_t size);
  void update(ByteView bytes) { update(bytes.data(), bytes.size()); }

  /// The digest of all bytes so far. The object is spent afterwards.
  std::array<std::uint8_t, 32> finish();

  /// The same as 64 lower-case hexadecimal digits.
  std::string finish_hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hearsay
