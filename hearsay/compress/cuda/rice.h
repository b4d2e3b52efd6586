#pragma once

#include <cstdint>

namespace hearsay::compress::cuda {

/// The Rice code of one row: its length without the byte of the parameter, and that.
struct RicePlan {
  std::uint64_t bits;
  std::uint32_t parameter;
};

}  // namespace hearsay::compress::cuda
