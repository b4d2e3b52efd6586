#pragma once

#include <vector>

#include "hearsay/backend/kernels.h"

namespace hearsay::gossip {

/// The floats of a block, readable by the host: in place, or copied from the device, for which the
/// constructor waits.
class HostRows {
 public:
  HostRows(backend::Kernels& kernels, backend::ConstBlock block) : block_(block) {
    if (kernels.on_host()) return;
    copy_.resize(block.size());
    block_.data = copy_.data();
    for (std::size_t i = 0; i < block.rows; ++i) {
      kernels.download(block, i, std::span(copy_).subspan(i * block.dim, block.dim));
    }
  }
  HostRows(const HostRows&) = delete;
  HostRows& operator=(const HostRows&) = delete;

  std::span<const float> floats() const { return {block_.data, block_.size()}; }
  std::span<const float> row(std::size_t i) const { return block_.row(i); }

 private:
  std::vector<float> copy_;
  backend::ConstBlock block_;
};

}  // namespace hearsay::gossip
