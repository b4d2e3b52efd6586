#pragma once

#include "hearsay/engine/cuda/conv/conv_epilogue.cuh"
#include "hearsay/engine/cuda/conv/mma.cuh"

/// The products of a chunk of channels in shared memory, for all taps: what kernels that differ in
/// how it came there have in common.
namespace hearsay::engine::cuda {

/// The positions of the patch that this lane addresses for tap (0, 0): of pixel (lane mod 16) of
/// each of its warp's fragments of A, whose other half of 32 bytes lane + 16 addresses.
template <class Shape>
__device__ inline void find_rows(const ConvGeometry& g, int (&rows)[Shape::kRows]) {
#pragma unroll
  for (int f = 0; f < Shape::kRows; ++f) {
    const PixelPlace place = Shape::place(g, f, threadIdx.x % 16);
    rows[f] = (place.image * g.patch_h + Shape::patch_line(g, place.y)) * g.patch_w +
              Shape::patch_line(g, place.x);
  }
}

/// Where this lane's row of B begins in a chunk of packed weights: channel lane mod 8 of two
/// fragments.
template <class Shape>
__device__ inline int weight_row() {
  const int lane = threadIdx.x % 32, warp_n = threadIdx.x / 32 / Shape::kWarpsM;
  return (warp_n * Shape::kColumns * 8 + lane % 8 + lane / 16 * 8) * Shape::kPitch +
         lane / 8 % 2 * 16;
}

/// sum += patch x weights; a_at(f, k, l, step) is the address of 16 bytes of fragment f's row for
/// tap (k, l), in step `step` of 32 bytes. kKernel 0: `kernel` is known only now.
template <class Math, class Shape, int kKernel, class Address>
__device__ inline void multiply_chunk(int kernel, std::uint32_t weights, const Address& a_at,
                                      float (&sum)[Shape::kRows][Shape::kColumns][4]) {
#pragma unroll(kKernel > 0 ? kKernel : 1)
  for (int k = 0; k < kernel; ++k) {
#pragma unroll(kKernel > 0 ? kKernel : 1)
    for (int l = 0; l < kernel; ++l) {
#pragma unroll
      for (int step = 0; step < Shape::kBytes / 32; ++step) {
        std::uint32_t a[Shape::kRows][4];
#pragma unroll
        for (int f = 0; f < Shape::kRows; ++f) load_matrices(a[f], a_at(f, k, l, step));
#pragma unroll
        for (int pair = 0; pair < Shape::kColumns / 2; ++pair) {
          std::uint32_t b[4];
          load_matrices(b, weights + ((k * kernel + l) * Shape::kOut + pair * 16) * Shape::kPitch +
                               step * 32);
#pragma unroll
          for (int f = 0; f < Shape::kRows; ++f) {
            Math::multiply(sum[f][2 * pair], a[f], b[0], b[1]);
            Math::multiply(sum[f][2 * pair + 1], a[f], b[2], b[3]);
          }
        }
      }
    }
  }
}

/// The same for strips and kernels of 3 x 3, where a row of 8 pixels is read once for the three
/// taps above one another; pair_at(j, l, step) is the address of 16 bytes of rows 2 j and 2 j + 1
/// of the patch that the strip reads, for taps (., l).
template <class Math, class Shape, class Address>
__device__ inline void multiply_strip(std::uint32_t weights, const Address& pair_at,
                                      float (&sum)[Shape::kRows][Shape::kColumns][4]) {
#pragma unroll
  for (int l = 0; l < 3; ++l) {
#pragma unroll
    for (int step = 0; step < Shape::kBytes / 32; ++step) {
      std::uint32_t pair[Shape::kRows + 1][4];
#pragma unroll
      for (int j = 0; j <= Shape::kRows; ++j) load_matrices(pair[j], pair_at(j, l, step));
#pragma unroll
      for (int k = 0; k < 3; ++k) {
#pragma unroll
        for (int two = 0; two < Shape::kColumns / 2; ++two) {
          std::uint32_t b[4];
          load_matrices(
              b, weights + ((k * 3 + l) * Shape::kOut + two * 16) * Shape::kPitch + step * 32);
#pragma unroll
          for (int f = 0; f < Shape::kRows; ++f) {
            const auto& above = pair[f + k / 2];
            const auto& below = pair[f + 1];
            const std::uint32_t between[4] = {above[1], below[0], above[3], below[2]};
            const std::uint32_t(&a)[4] = k == 1 ? between : above;
            Math::multiply(sum[f][2 * two], a, b[0], b[1]);
            Math::multiply(sum[f][2 * two + 1], a, b[2], b[3]);
          }
        }
      }
    }
  }
}

/// The same for quarters (has_quarters): fragment 2 i + j of the sums is of pixels (2 a + i,
/// 2 b + j); entry_at(i, j, step) is the address of 16 bytes of entry (a + i, b + j).
template <class Math, class Shape, class Address>
__device__ inline void multiply_quarters(std::uint32_t weights, const Address& entry_at,
                                         float (&sum)[Shape::kRows][Shape::kColumns][4]) {
#pragma unroll
  for (int step = 0; step < Shape::kBytes / 32; ++step) {
    std::uint32_t a[4][4];
#pragma unroll
    for (int e = 0; e < 4; ++e) load_matrices(a[e], entry_at(e / 2, e % 2, step));
#pragma unroll
    for (int k = 0; k < 3; ++k) {
#pragma unroll
      for (int l = 0; l < 3; ++l) {
        const int quarter = (k == 1 ? 0 : 2) + (l == 1 ? 0 : 1);
        const int entry = (k == 2 ? 2 : 0) + (l == 2 ? 1 : 0);
#pragma unroll
        for (int two = 0; two < Shape::kColumns / 2; ++two) {
          std::uint32_t b[4];
          load_matrices(
              b, weights + ((k * 3 + l) * Shape::kOut + two * 16) * Shape::kPitch + step * 32);
          Math::multiply(sum[quarter][2 * two], a[entry], b[0], b[1]);
          Math::multiply(sum[quarter][2 * two + 1], a[entry], b[2], b[3]);
        }
      }
    }
  }
}

}  // namespace hearsay::engine::cuda
