#pragma once

#include <cstdint>
#include <vector>

#include "hearsay/backend/kernels.h"

namespace hearsay::backend::cuda {

/// A VectorView as kernels read it from the staging buffer.
struct View {
  const float* dense;  ///< null: sparse
  const std::uint32_t* index;
  const float* value;
  std::uint64_t count;  ///< of index and value
};

inline std::vector<View> device_views(std::span<const VectorView> q) {
  std::vector<View> views;
  views.reserve(q.size());
  for (const VectorView& v : q) {
    views.push_back({v.dense, v.index.data(), v.value.data(), v.index.size()});
  }
  return views;
}

}  // namespace hearsay::backend::cuda
