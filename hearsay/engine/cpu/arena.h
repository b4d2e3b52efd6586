#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace hearsay::engine::cpu {

/// Memory for buffers that are each needed during one stretch of time: those whose stretches do not
/// meet may share bytes. First all are requested, then the memory is there.
class Arena {
 public:
  /// A buffer that is needed at times first .. last. Returns its number.
  std::size_t request(std::size_t bytes, std::size_t first, std::size_t last);

  /// Place all buffers (largest first, each at the lowest place that is free throughout its time)
  /// and allocate once.
  void allocate();

  std::byte* at(std::size_t buffer) const;
  std::size_t bytes() const { return bytes_; }

 private:
  struct Buffer {
    std::size_t bytes, first, last, offset;
  };
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::vector<Buffer> buffers_;
  std::size_t bytes_ = 0;
  std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace hearsay::engine::cpu
