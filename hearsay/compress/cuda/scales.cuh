#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/block.cuh"
#include "hearsay/compress/cuda/dense_rows.h"
#include "hearsay/compress/cuda/round.cuh"

/// One number a row and tensor, from a sum over the tensor in double.
namespace hearsay::compress::cuda {

/// partial[row][stretch] = sum of term(x).
template <class Term>
__global__ void sum_stretches(Term term, const Stretch* stretches, const float* v, std::size_t dim,
                              double* partial) {
  backend::cuda::begin_launch();
  __shared__ double warps[kMostWarps];
  const Stretch stretch = stretches[blockIdx.x];
  const float* x = v + blockIdx.y * dim + stretch.begin;
  double sum = 0;
  for (unsigned i = threadIdx.x; i < stretch.size; i += blockDim.x) {
    sum += term(static_cast<double>(x[i]));
  }
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    sum += __shfl_down_sync(kAllLanes, sum, step);
  }
  if (lane() == 0) warps[warp()] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  sum = 0;
  for (unsigned w = 0; w < blockDim.x / kWarp; ++w) sum += warps[w];
  partial[blockIdx.y * std::size_t{gridDim.x} + blockIdx.x] = sum;
}

/// scales[row][tensor] = scale(sum over its stretches, in order; its size), NaN if that is not
/// finite. One block a row.
template <class Scale>
__global__ void find_scales(Scale scale, const Tensor* tensors, const std::uint32_t* first,
                            std::uint32_t count, std::uint32_t stretches, const double* partial,
                            float* scales) {
  backend::cuda::begin_launch();
  for (unsigned t = threadIdx.x; t < count; t += blockDim.x) {
    double sum = 0;
    for (unsigned k = first[t]; k < first[t + 1]; ++k) {
      sum += partial[blockIdx.x * std::size_t{stretches} + k];
    }
    const float value = scale(sum, tensors[t].size);
    scales[blockIdx.x * std::size_t{count} + t] =
        isfinite(value) ? value : __uint_as_float(kQuietNan);
  }
}

/// The scales in front of the codes of all rows. One block a row.
__global__ inline void write_scales(const float* scales, std::uint32_t count, std::uint32_t* words,
                                    std::size_t stride) {
  backend::cuda::begin_launch();
  for (unsigned t = threadIdx.x; t < count; t += blockDim.x) {
    words[blockIdx.x * stride + t] = __float_as_uint(scales[blockIdx.x * std::size_t{count} + t]);
  }
}

}  // namespace hearsay::compress::cuda
