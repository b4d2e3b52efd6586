#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/compress/cuda/round.cuh"

namespace hearsay::compress::cuda {

/// Where the kept entries go: `keep` per row, and for q8 one scale per unit and row.
struct Kept {
  std::uint32_t* index;
  float* value;
  float* scales;
  std::size_t keep;
  std::uint32_t units;
  ValueFormat format;

  __device__ Rounding rounding(unsigned row, unsigned unit, unsigned largest) const {
    const Rounding result{format, q8_scale(largest)};
    if (format == ValueFormat::kQ8 && threadIdx.x == 0)
      scales[row * std::size_t{units} + unit] = result.scale;
    return result;
  }
};

}  // namespace hearsay::compress::cuda
