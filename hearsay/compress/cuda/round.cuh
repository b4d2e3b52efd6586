#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "hearsay/compress/code/float16.h"
#include "hearsay/compress/code/value_code.h"

namespace hearsay::compress::cuda {

constexpr unsigned kInfinity = 0x7f800000u;
constexpr unsigned kQuietNan = 0x7fc00000u;

/// The scale of a q8 unit, given its largest magnitude: NaN if that is not finite.
__device__ inline float q8_scale(unsigned largest) {
  return __uint_as_float(largest < kInfinity ? largest : kQuietNan);
}

__device__ inline int q8_level(float x, float scale) {
  return scale > 0 ? static_cast<int>(rintf(__fmul_rn(__fdiv_rn(x, scale), 127.0f))) : 0;
}

/// Values as value_code.h rounds them, bit for bit, given those of floats.
struct Rounding {
  ValueFormat format;
  float scale;  ///< of q8

  __device__ float operator()(unsigned bits) const {
    const float x = __uint_as_float(bits);
    switch (format) {
      case ValueFormat::kF32:
        return x;
      case ValueFormat::kF16:
        return from_half(to_half(x));
      case ValueFormat::kBf16:
        return from_bfloat(to_bfloat(x));
      case ValueFormat::kQ8:
        if (isnan(scale)) return scale;  // computing with a NaN here would change its bits
        return __fmul_rn(__fdiv_rn(static_cast<float>(q8_level(x, scale)), 127.0f), scale);
    }
    return x;
  }
};

}  // namespace hearsay::compress::cuda
