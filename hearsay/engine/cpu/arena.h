#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace hearsay::engine::cpu {

/// Memory for buffers with known lifetimes: buffers whose lifetimes do not overlap may share bytes.
/// First request all of them, then allocate.
class Arena {
 public:
  /// A buffer that is live at times first .. last. Returns its index.
  std::size_t request(std::size_t bytes, std::size_t first, std::size_t last);

  /// Place all buffers (largest first, each at the lowest offset that is free throughout its
  /// lifetime) and allocate once.
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
