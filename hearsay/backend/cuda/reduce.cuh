#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/view.cuh"

/// Sums in double, in an order that depends on the sizes alone.
namespace hearsay::backend::cuda {

constexpr unsigned kSumThreads = 512;
constexpr unsigned kMostPieces = 128;

/// Pieces that a row of n entries is summed in: one block each.
constexpr unsigned pieces_of(std::size_t n) {
  const std::size_t pieces = (n + 16 * kSumThreads - 1) / (16 * kSumThreads);
  return static_cast<unsigned>(pieces < 1 ? 1 : pieces > kMostPieces ? kMostPieces : pieces);
}

/// The sum of `value` over the block's threads, valid in thread 0. All threads must call it.
__device__ inline double block_sum(double value) {
  __shared__ double warps[32];
  for (unsigned step = 16; step > 0; step /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, step);
  }
  __syncthreads();  // a call before this one may still be read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
  for (unsigned step = 16; step > 0; step /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, step);
  }
  return value;
}

struct Square {
  __device__ double operator()(double x) const { return x * x; }
};

struct Magnitude {
  __device__ double operator()(double x) const { return fabs(x); }
};

/// Row blockIdx.y of a block of floats.
struct RowsOf {
  const float* data;
  std::size_t dim;
  __device__ const float* begin() const { return data + blockIdx.y * dim; }
  __device__ std::size_t size() const { return dim; }
};

/// What is not zero in vector blockIdx.y of a list.
struct EntriesOf {
  const View* const* views;
  std::size_t dim;
  __device__ const View& view() const { return (*views)[blockIdx.y]; }
  __device__ const float* begin() const { return view().dense ? view().dense : view().value; }
  __device__ std::size_t size() const { return view().dense ? dim : view().count; }
};

/// (*out)[row] = sum of term(x) over the entries x of vector `row` = blockIdx.y. The block that
/// comes last to a row adds up its gridDim.x pieces in order. `tickets` are zero before and after.
template <class Vectors, class Term>
__global__ void sum_entries(Vectors vectors, Term term, double* partial, unsigned* tickets,
                            double* const* out) {
  backend::cuda::begin_launch();
  const float* x = vectors.begin();
  const std::size_t n = vectors.size(), piece = (n + gridDim.x - 1) / gridDim.x;
  const std::size_t begin = blockIdx.x * piece;
  const std::size_t end = begin + piece < n ? begin + piece : n;
  double sum = 0;
#pragma unroll 4
  for (std::size_t k = begin + threadIdx.x; k < end; k += kSumThreads) {
    sum += term(static_cast<double>(x[k]));
  }
  sum = block_sum(sum);
  if (threadIdx.x > 0) return;
  double* mine = partial + std::size_t{blockIdx.y} * gridDim.x;
  mine[blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(tickets + blockIdx.y, 1u) + 1 < gridDim.x) return;
  __threadfence();
  sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += __ldcg(mine + k);
  (*out)[blockIdx.y] = sum;
  tickets[blockIdx.y] = 0;
}

/// out[k] = sum of column k, rows ascending.
__global__ void sum_columns(const float* x, std::size_t rows, std::size_t dim, double* out) {
  backend::cuda::begin_launch();
  const std::size_t k = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (k >= dim) return;
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += static_cast<double>(x[i * dim + k]);
  out[k] = sum;
}

/// Every row becomes the mean of the rows.
__global__ void mean_columns(float* x, std::size_t rows, std::size_t dim) {
  backend::cuda::begin_launch();
  const std::size_t k = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (k >= dim) return;
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += static_cast<double>(x[i * dim + k]);
  const float mean = static_cast<float>(sum / static_cast<double>(rows));
  for (std::size_t i = 0; i < rows; ++i) x[i * dim + k] = mean;
}

}  // namespace hearsay::backend::cuda
