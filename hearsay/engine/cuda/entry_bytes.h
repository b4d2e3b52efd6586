#pragma once

#include "hearsay/backend/device.h"

namespace hearsay::engine::cuda {

/// Of one entry of a tensor.
constexpr int entry_bytes(backend::Precision precision) {
  return precision == backend::Precision::kBf16 ? 2 : 4;
}

}  // namespace hearsay::engine::cuda
