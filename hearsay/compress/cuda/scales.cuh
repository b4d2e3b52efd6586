#pragma once

#include <cstddef>
#include <cstdint>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/compress/cuda/block.cuh"
#include "hearsay/compress/cuda/dense_rows.h"
#include "hearsay/compress/cuda/round.cuh"

/// One number per row and tensor, from a sum over the tensor in double, in two launches.
namespace hearsay::compress::cuda {

/// partial[row][stretch] = sum of term(x) over the stretch, in double. Grid (stretches, rows), 256
/// threads; a thread sums every 256th entry ascending (at most 16), then a shuffle tree per warp,
/// then thread 0 adds the warps' sums ascending (32 doubles, 256 bytes of shared memory): a fixed
/// order. Bound by memory bandwidth: 4 bytes per entry; not measured.
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

/// scales[row][tensor] = scale(sum over its stretches, ascending; its size), NaN if that is not
/// finite. Grid: one block per row, 256 threads, one tensor per thread, which adds its stretches
/// serially: the largest tensor's size / 4,096 dependent reads, so bound by latency; not measured.
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

/// words[row][t] = the bits of scales[row][t]: the scales of all tensors as 32-bit words in front
/// of each row's code. Grid: one block per row, 256 threads, every 256th tensor per thread. No
/// shared memory, plain stores. Bound by launch latency; not measured.
__global__ inline void write_scales(const float* scales, std::uint32_t count, std::uint32_t* words,
                                    std::size_t stride) {
  backend::cuda::begin_launch();
  for (unsigned t = threadIdx.x; t < count; t += blockDim.x) {
    words[blockIdx.x * stride + t] = __float_as_uint(scales[blockIdx.x * std::size_t{count} + t]);
  }
}

}  // namespace hearsay::compress::cuda
