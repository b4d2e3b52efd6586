#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include "hearsay/backend/cuda/block_sum.cuh"
#include "hearsay/backend/cuda/comes_last.cuh"
#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/view.cuh"

/// Sums in double, in an order that depends on the sizes alone.
namespace hearsay::backend::cuda {

constexpr unsigned kSumThreads = 512;
constexpr unsigned kMostPieces = 128;

/// Pieces that a vector of n entries is summed in: one block each.
constexpr unsigned pieces_of(std::size_t n) {
  const std::size_t pieces = (n + 16 * kSumThreads - 1) / (16 * kSumThreads);
  return static_cast<unsigned>(pieces < 1 ? 1 : pieces > kMostPieces ? kMostPieces : pieces);
}

/// out[i] = sum of |x| over the entries x of vector i = blockIdx.y, of `dim` floats, in double.
/// Grid (pieces, vectors), 512 threads; ceil(dim / 8,192) pieces, at most 128, each contiguous, a
/// thread taking every 512th entry ascending. Shared memory: 256 bytes of block_sum. Order: a
/// thread's entries, block_sum, then the last block of a vector, by ticket, adds up the pieces,
/// `partial`, with block_sum again. `tickets` are zero before and after. Bound by memory bandwidth:
/// one read per entry; not measured.
__global__ void sum_magnitudes(const View* const* views, std::size_t dim, double* partial,
                               unsigned* tickets, double* out) {
  backend::cuda::begin_launch();
  const View view = (*views)[blockIdx.y];
  const float* x = view.dense ? view.dense : view.value;
  const std::size_t n = view.dense ? dim : view.count, piece = (n + gridDim.x - 1) / gridDim.x;
  const std::size_t begin = blockIdx.x * piece;
  const std::size_t end = begin + piece < n ? begin + piece : n;
  double sum = 0;
#pragma unroll 4
  for (std::size_t k = begin + threadIdx.x; k < end; k += kSumThreads) {
    sum += fabs(static_cast<double>(x[k]));
  }
  sum = block_sum(sum);
  double* mine = partial + std::size_t{blockIdx.y} * gridDim.x;
  if (threadIdx.x == 0) mine[blockIdx.x] = sum;
  if (!comes_last(tickets + blockIdx.y, gridDim.x)) return;
  sum = block_sum(threadIdx.x < gridDim.x ? __ldcg(mine + threadIdx.x) : 0);
  if (threadIdx.x == 0) out[blockIdx.y] = sum;
}
static_assert(kMostPieces <= kSumThreads);

/// The sum of column k of x, rows ascending, in double, plus that of low unless it is null.
inline __device__ double column_mass(const float* x, const float* low, std::size_t rows,
                                     std::size_t dim, std::size_t k) {
  double sum = 0, low_sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += static_cast<double>(x[i * dim + k]);
  if (low == nullptr) return sum;
  for (std::size_t i = 0; i < rows; ++i) low_sum += static_cast<double>(low[i * dim + k]);
  return sum + low_sum;
}

/// out[k] = sum of column k, rows ascending, in double. Grid: ceil(dim / 256), 256 threads, one
/// column per thread; neighbours read neighbouring entries. No shared memory. Bound by memory
/// bandwidth; not measured.
__global__ void sum_columns(const float* x, std::size_t rows, std::size_t dim, std::size_t columns,
                            double* out) {
  backend::cuda::begin_launch();
  const std::size_t k = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (k >= columns) return;
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += static_cast<double>(x[i * dim + k]);
  out[k] = sum;
}

/// out[k] = keep (column sum of x + column sum of low), as sum_columns; low may be null. Same grid
/// and bound.
__global__ void keep_columns(const float* x, const float* low, const double* keep, std::size_t rows,
                             std::size_t dim, double* out) {
  backend::cuda::begin_launch();
  const std::size_t k = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (k >= dim) return;
  out[k] = column_mass(x, low, rows, dim, k) * *keep;
}

/// changes[b] = sum of |column mass - kept[k]| over the kMassBlock columns k of block b, ascending,
/// which is the host's order: the result has its bits. Grid: one warp per block of columns. Each
/// lane computes a column (neighbours read neighbouring entries), then all lanes add the 32 values
/// in order, read from each other's registers. No shared memory. Bound by memory bandwidth and, for
/// few blocks, by the latency of kMassBlock dependent additions (about 20 us).
__global__ void sum_changes(const float* x, const float* low, const double* kept, std::size_t rows,
                            std::size_t dim, double* changes) {
  backend::cuda::begin_launch();
  constexpr unsigned kWarp = 32;
  const std::size_t begin = blockIdx.x * kMassBlock;
  const std::size_t end = begin + kMassBlock < dim ? begin + kMassBlock : dim;
  double sum = 0;
  for (std::size_t first = begin; first < end; first += kWarp) {
    const std::size_t k = first + threadIdx.x;
    const double change = k < end ? fabs(column_mass(x, low, rows, dim, k) - kept[k]) : 0;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      sum += __shfl_sync(0xFFFFFFFF, change, lane);
    }
  }
  if (threadIdx.x == 0) changes[blockIdx.x] = sum;
}

/// Every row becomes the mean of the rows: sums as sum_columns (double, rows ascending), then all
/// rows of the column are written. Same grid. Bound by memory bandwidth: 8 bytes per entry; not
/// measured.
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
