#pragma once

#include <cstdint>

#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/int8/sums.h"
#include "hearsay/engine/cuda/int8/tensor.h"

namespace hearsay::engine::cuda::int8 {

/// The weight gradients of a convolution, exact up to the last step:
///
///   dW[o][i][tap] = sum over chunks of R float(sum over samples and pixels of
///                                              x_i[pixel + tap] (256 high_o + low_o))
///
/// A block has 16 outputs, 16 inputs and all taps (of large kernels a part), or 64 inputs where
/// there are as many. If there are many such tiles, it takes all samples and writes the gradient;
/// else samples are divided among blocks, which leave their integers for the SumCollector.
class WeightGradient {
 public:
  /// `codes`, `scales`: Q16 of the gradient of y.
  WeightGradient(const model::Conv2d& conv, std::size_t at, const Tensor& x, const Tensor& y,
                 const std::int16_t* codes, const float* scales, int processors, int shared_bytes,
                 SumCollector& sums);

  /// On a side stream, which the SumCollector joins.
  void compute(backend::cuda::LaunchRecorder& recorder, const Call& call) const;

  /// What the kernel knows of its work.
  struct Work {
    Extent x, y;
    unsigned in, out;  ///< channels that are not padding
    unsigned kernel, stride, padding;
    unsigned batch;
    unsigned tiles_in;  ///< of 16 inputs
    unsigned slices;    ///< blocks of a chunk; 0: a block takes all chunks
    unsigned rows;      ///< of y in shared memory at once,
    unsigned samples;   ///< or samples, if all their rows are
    unsigned canvas_height, canvas_width;
    unsigned pixels;            ///< in shared memory at once, a multiple of 32
    unsigned taps, block_taps;  ///< of the kernel, of a block
    unsigned tap_groups;        ///< blocks that share a tile's taps
    unsigned unused;
    std::size_t at;
    const std::int8_t* codes;  ///< of x
    const float* scales;
    const std::int16_t* gradient;  ///< Q16
    const float* gradient_scales;
    long long* parts;
    float* units;

    bool operator==(const Work&) const = default;
  };
  using Kernel = void (*)(Work work, float* const* gradients);

 private:
  Work work_;
  Kernel kernel_ = nullptr;
  unsigned threads_ = 0;
  unsigned shared_bytes_ = 0, tiles_ = 0, splits_ = 1, peers_ = 1;
  backend::cuda::Memory<long long> parts_;
  backend::cuda::Memory<float> units_;
};

}  // namespace hearsay::engine::cuda::int8
