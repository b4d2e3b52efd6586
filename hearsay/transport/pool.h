#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hearsay::transport {

/// Room for bodies of unknown length, used again round after round: the first touch of fresh memory
/// costs several times what the copy into it does. Holds as many buffers as were ever in use at
/// once.
class Pool {
 public:
  /// `bytes` bytes, aligned for any number, until `reuse` of a later round.
  std::span<std::uint8_t> take(std::size_t bytes, std::uint32_t round);

  /// What was taken for rounds before this one is free.
  void reuse(std::uint32_t round);

 private:
  struct Buffer {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t size = 0;
    std::uint32_t round = 0;
  };
  std::vector<Buffer> free_, used_;
};

}  // namespace hearsay::transport
