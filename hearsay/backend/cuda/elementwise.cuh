#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/quad.cuh"

/// Formulas applied entry by entry that are no part of a Chain, rounded as the CPU's loops round.
/// Numbers that change from round to round are read from the staging buffer.
namespace hearsay::backend::cuda {

constexpr unsigned kThreads = 256;

constexpr unsigned blocks_for(std::size_t items, std::size_t a_block) {
  return static_cast<unsigned>((items + a_block - 1) / a_block);
}

constexpr unsigned kDivideQuads = 4;  // whose loads a thread issues before it needs the first

/// z_i = x_i / u_i for rows of `dim` entries, row i = blockIdx.y (de-biasing). Grid (ceil((dim / 4
/// + 2) / 1,024), rows), 256 threads; a thread has 4 groups of 4 entries in registers, 256 groups
/// apart, all loaded (16 bytes each) before the first division. `offset` is that of z modulo 16
/// bytes; `same`: of x too, which otherwise is read entry by entry. No shared memory, no sums.
/// Bound by memory bandwidth: 8 bytes per entry; not measured by itself.
__global__ void __launch_bounds__(kThreads)
    divide_rows(const float* u, const float* x, float* z, std::size_t dim, std::uint32_t offset,
                std::uint32_t same) {
  backend::cuda::begin_launch();
  const std::size_t begin = offset + blockIdx.y * dim, end = begin + dim;
  const std::size_t base = begin / 4 + blockIdx.x * std::size_t{kDivideQuads * kThreads};
  const float divisor = u[blockIdx.y];
  Quad quads[kDivideQuads];
  float values[kDivideQuads][4] = {};
#pragma unroll
  for (unsigned q = 0; q < kDivideQuads; ++q) {
    quads[q] = Quad(base + q * kThreads + threadIdx.x, begin, end, offset);
    quads[q].load(x, same, values[q]);
  }
#pragma unroll
  for (unsigned q = 0; q < kDivideQuads; ++q) {
#pragma unroll
    for (float& value : values[q]) value = value / divisor;
    quads[q].store(values[q], true, z);
  }
}

/// Its grid: at both ends of a row there may be a group of four that is not full.
inline dim3 divide_grid(std::size_t rows, std::size_t dim) {
  return {blocks_for(dim / 4 + 2, kDivideQuads * kThreads), static_cast<unsigned>(rows), 1};
}

/// y_i *= most / |y_i| where the norm is larger; a row with a NaN compares false and stays. Grid
/// (ceil(dim / 256), rows), 256 threads, one entry per thread; `squares` come from run_chain. Rows
/// that are short enough are not read. Bound by memory bandwidth where rows are clipped; not
/// measured.
__global__ void shorten_rows(const double* most, const double* squares, float* y, std::size_t dim) {
  backend::cuda::begin_launch();
  const double norm = sqrt(squares[blockIdx.y]);
  const std::size_t k = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (k < dim && norm > *most) y[blockIdx.y * dim + k] *= static_cast<float>(*most / norm);
}

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, g = (m / c1) / (sqrt(v / c2) + epsilon): as
/// Kernels::adam, with the rates (beta1, beta2, epsilon, c1, c2), each operation rounded as on the
/// CPU. Grid: ceil(entries of all rows / 256), 256 threads, one entry per thread, 4-byte accesses.
/// No shared memory. Bound by memory bandwidth: three arrays read and written, 24 bytes per entry;
/// not measured.
__global__ void adam(const float* rates, float* m, float* v, float* g, std::size_t n) {
  backend::cuda::begin_launch();
  const std::size_t k = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (k >= n) return;
  const float b1 = rates[0], b2 = rates[1], gradient = g[k];
  const float first = __fmaf_rn(1.0f - b1, gradient, __fmul_rn(b1, m[k]));
  const float second = __fmaf_rn(__fmul_rn(1.0f - b2, gradient), gradient, __fmul_rn(b2, v[k]));
  m[k] = first;
  v[k] = second;
  const float root = sqrtf(second / rates[4]);
  g[k] = first / rates[3] / __fadd_rn(root, rates[2]);
}

}  // namespace hearsay::backend::cuda
