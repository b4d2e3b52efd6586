#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hearsay::transport {

/// Receive buffers for bodies of unknown length, reused across rounds: the first touch of fresh
/// memory costs several times as much as the copy into it. Holds as many buffers as were ever in
/// use at once.
class Pool {
 public:
  /// A buffer of `bytes` bytes, aligned for any arithmetic type, valid until `reuse` of a later
  /// round.
  std::span<std::uint8_t> take(std::size_t bytes, std::uint32_t round);

  /// Frees the buffers taken for rounds before this one.
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
