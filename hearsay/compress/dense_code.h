#pragma once

#include <cstddef>

#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

/// Make q a dense vector of d floats, to be overwritten.
inline void make_dense(Decoded& q, std::size_t d) {
  q.sparse = false;
  q.index.clear();
  q.value.clear();
  q.dense.resize(d);
}

/// Bytes of one f32 for each non-empty tensor.
inline std::size_t scale_bytes(const Layout& layout) {
  std::size_t tensors = 0;
  for (const Segment& segment : layout.segments()) tensors += segment.size > 0 ? 1 : 0;
  return sizeof(float) * tensors;
}

}  // namespace hearsay::compress
