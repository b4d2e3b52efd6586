#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/view.cuh"

/// Kernels::accumulate, the two forms of Kernels::mix, and Kernels::mix_compensated.
namespace hearsay::backend::cuda {

/// y_i += a q_i, row i = blockIdx.y, dense or sparse. Grid (ceil(longest vector, rounded up to a
/// power of two / 256), rows), 256 threads, grid-stride over entries. The indices of a vector
/// differ, so no two threads write one entry, and there are no atomics. No shared memory. Dense:
/// bound by memory bandwidth, 12 bytes per entry; sparse: by scattered accesses; not measured.
__global__ void accumulate_rows(const float* a, const View* const* views, float* y,
                                std::size_t dim) {
  backend::cuda::begin_launch();
  const View view = (*views)[blockIdx.y];
  float* row = y + blockIdx.y * dim;
  const std::size_t n = view.dense ? dim : view.count;
  for (std::size_t k = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; k < n;
       k += std::size_t{gridDim.x} * blockDim.x) {
    const std::size_t place = view.dense ? k : view.index[k];
    const float value = view.dense ? view.dense[k] : view.value[k];
    row[place] = __fmaf_rn(*a, value, row[place]);
  }
}

/// A dense vector: d floats anywhere, or a row of the x that is being mixed.
struct Source {
  const float* data;
  std::int64_t row;  ///< -1: not of x
};

/// What a receiver takes of a source: an edge's weight; or, of its own vector, c as two floats.
struct Share {
  Source source;
  float weight[2];
};

/// x_i += c_i q_i + sum over i's edges of a (q_j - q_i), as in Kernels::mix.
///
/// Grid: ceil(dim / width) blocks of (width, height) threads: a block owns `width` columns of all
/// rows, width = 8,192 / rows rounded down to a power of two, at most 128; threadIdx.y strides over
/// rows. If sources are rows of x (`in_place`), it copies its columns to shared memory first (4
/// rows width, at most 32 KB up to 8,192 rows), so every row is read before one is overwritten.
/// own[i] is row i's vector and c_i; (*edges)[begin[i] .. begin[i+1]-1] are its edges, added in
/// that order.
///
/// Bound by memory bandwidth: x is read (in place twice) and written once, sources once per edge,
/// from shared memory or L2; not measured by itself.
__global__ void mix_dense(const Share* own, const std::uint32_t* begin, const Share* const* edges,
                          bool in_place, float* x, std::size_t rows, std::size_t dim) {
  backend::cuda::begin_launch();
  extern __shared__ float before[];
  const std::size_t column = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (in_place) {
    if (column < dim) {
      for (std::size_t i = threadIdx.y; i < rows; i += blockDim.y) {
        before[i * blockDim.x + threadIdx.x] = x[i * dim + column];
      }
    }
    __syncthreads();
  }
  if (column >= dim) return;
  const auto read = [&](const Source& source) {
    return source.row < 0 ? source.data[column] : before[source.row * blockDim.x + threadIdx.x];
  };
  for (std::size_t i = threadIdx.y; i < rows; i += blockDim.y) {
    const Share mine = own[i];
    const float self = read(mine.source);
    float sum = __fmaf_rn(mine.weight[1], self, __fmul_rn(mine.weight[0], self));
    for (std::uint32_t e = begin[i]; e < begin[i + 1]; ++e) {
      const Share edge = (*edges)[e];
      sum = __fmaf_rn(edge.weight[0], __fsub_rn(read(edge.source), self), sum);
    }
    x[i * dim + column] = __fadd_rn(x[i * dim + column], sum);
  }
}

/// x + low += term, as one number in two floats: TwoSum of Knuth, 6 additions without branches.
__device__ inline void add_compensated(float term, float& x, float& low) {
  const float next = __fadd_rn(x, term);
  const float added = __fsub_rn(next, x);
  low = __fadd_rn(low, __fadd_rn(__fsub_rn(x, __fsub_rn(next, added)), __fsub_rn(term, added)));
  x = next;
}

/// Kernels::mix_compensated: own, begin and edges as for mix_dense, a block of blockDim.x columns
/// of all rows, a thread for a column and every blockDim.y-th row. No source is a row of x, so
/// there is nothing to copy. Bound by memory: x and low are read and written once, sources read
/// once for each edge, mostly from the cache.
__global__ void mix_dense_compensated(const Share* own, const std::uint32_t* begin,
                                      const Share* const* edges, const float* keep, float* x,
                                      float* low, std::size_t rows, std::size_t dim) {
  backend::cuda::begin_launch();
  const std::size_t column = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (column >= dim) return;
  for (std::size_t i = threadIdx.y; i < rows; i += blockDim.y) {
    const Share mine = own[i];
    const float self = mine.source.data[column];
    const float before = x[i * dim + column];
    float sum = __fmul_rn(*keep, before);
    float error = __fmaf_rn(*keep, low[i * dim + column], __fmaf_rn(*keep, before, -sum));
    add_compensated(__fmul_rn(mine.weight[0], self), sum, error);
    error = __fmaf_rn(mine.weight[1], self, error);
    for (std::uint32_t e = begin[i]; e < begin[i + 1]; ++e) {
      const Share edge = (*edges)[e];
      const float difference = __fsub_rn(edge.source.data[column], self);
      add_compensated(__fmul_rn(edge.weight[0], difference), sum, error);
    }
    const float high = __fadd_rn(sum, error), added = __fsub_rn(high, sum);
    x[i * dim + column] = high;
    low[i * dim + column] =
        __fadd_rn(__fsub_rn(sum, __fsub_rn(high, added)), __fsub_rn(error, added));
  }
}

/// The number of entries of the ascending `index` that are below `bound`, by a 32-ary search of a
/// warp: each step the lanes probe 32 places, and a ballot picks the interval, so log_32(count)
/// dependent reads.
__device__ inline std::uint64_t count_below(const std::uint32_t* index, std::uint64_t count,
                                            std::uint64_t bound) {
  std::uint64_t low = 0, high = count;
  while (low < high) {
    const std::uint64_t step = (high - low + 31) / 32;
    const std::uint64_t place = low + (threadIdx.x % 32 + 1) * step - 1;
    const bool below = place < high && index[place] < bound;
    const unsigned steps = __popc(__ballot_sync(0xffffffffu, below));
    high = min(high, low + (steps + 1) * step - 1);
    low += steps * step;
  }
  return low;
}

/// A sparse vector's part in a row.
struct Term {
  View view;
  float weight[2];  ///< the second is not zero for the row's own vector only
};

constexpr unsigned kTermsAtOnce = 32;

/// x_i += sum over i's terms of weight * vector, for row i = blockIdx.y and the columns
/// [blockIdx.x * width, + width), which no other block touches. (*terms)[begin[i] .. begin[i+1]-1]
/// are row i's.
///
/// Grid (ceil(dim / width), rows), 256 threads, width = max(4,096, ceil(dim / 512)). For up to 32
/// terms at a time the warps find where the block's columns begin and end in each vector
/// (count_below; 32 x 2 x 8 = 512 bytes of shared memory); then the terms are added in order with a
/// barrier between: two may hold the same index, one alone holds it once. So no atomics, and a
/// fixed order. Bound by the latency of the searches and of scattered reads and writes of x; not
/// measured by itself.
__global__ void mix_sparse(const std::uint32_t* begin, const Term* const* terms, float* x,
                           std::size_t dim, std::size_t width) {
  backend::cuda::begin_launch();
  __shared__ std::uint64_t range[kTermsAtOnce][2];
  float* row = x + blockIdx.y * dim;
  const std::uint32_t last = begin[blockIdx.y + 1];
  for (std::uint32_t first = begin[blockIdx.y]; first < last; first += kTermsAtOnce) {
    const unsigned count = min(kTermsAtOnce, last - first);
    __syncthreads();
    // A warp per boundary: where the block's columns begin (k even) and end (k odd) in a term.
    for (unsigned k = threadIdx.x / 32; k < 2 * count; k += blockDim.x / 32) {
      const View& view = (*terms)[first + k / 2].view;
      const std::uint64_t end =
          count_below(view.index, view.count, (blockIdx.x + k % 2) * std::uint64_t{width});
      if (threadIdx.x % 32 == 0) range[k / 2][k % 2] = end;
    }
    for (unsigned t = 0; t < count; ++t) {
      __syncthreads();  // the ranges are known, and the term before has been added
      const Term term = (*terms)[first + t];
      for (std::uint64_t k = range[t][0] + threadIdx.x; k < range[t][1]; k += blockDim.x) {
        float* place = row + term.view.index[k];
        const float value = term.view.value[k];
        float sum = __fmaf_rn(term.weight[0], value, *place);
        if (term.weight[1] != 0) sum = __fmaf_rn(term.weight[1], value, sum);
        *place = sum;
      }
    }
  }
}

}  // namespace hearsay::backend::cuda
