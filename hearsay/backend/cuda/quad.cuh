#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

namespace hearsay::backend::cuda {

/// Entries from a multiple of 16 bytes to there.
inline std::uint32_t offset_of(const float* array) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(array) % 16 / sizeof(float));
}

/// Four neighbouring entries of a row, from a multiple of 16 bytes on, so one access of 16 bytes.
/// At the ends of the row some of them or all are absent; these are accessed one by one.
struct Quad {
  std::size_t at = 0;    ///< of the first entry, in the array; may be below zero, and wrap
  unsigned present = 0;  ///< bit k: entry k is there

  Quad() = default;
  /// The entries from 4 `number` on that are in [begin, end), all three counted from the multiple
  /// of 16 bytes that is `offset` entries before the array.
  __device__ Quad(std::size_t number, std::size_t begin, std::size_t end, std::uint32_t offset)
      : at(4 * number - offset) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const bool there = 4 * number + k >= begin && 4 * number + k < end;
      present |= there ? 1u << k : 0u;
    }
  }

  /// `wide`: the array has the offset that the quad was made with.
  __device__ void load(const float* array, bool wide, float (&to)[4]) const {
    if (wide && present == 15) {
      const float4 all = *reinterpret_cast<const float4*>(array + at);
      to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
    } else {
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        if (present >> k & 1) to[k] = array[at + k];
      }
    }
  }
  __device__ void store(const float (&from)[4], bool wide, float* array) const {
    if (wide && present == 15) {
      *reinterpret_cast<float4*>(array + at) = {from[0], from[1], from[2], from[3]};
    } else {
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        if (present >> k & 1) array[at + k] = from[k];
      }
    }
  }
};

}  // namespace hearsay::backend::cuda
