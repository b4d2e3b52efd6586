#pragma once

#include "hearsay/engine/cuda/conv/convolve/conv_epilogue.cuh"
#include "hearsay/engine/cuda/conv/mma.cuh"

/// The products of one chunk of input channels in shared memory, for all taps, on the tensor cores
/// (mma.sync): shared by the kernels, which differ in how the chunk came there. A is pixels x
/// channels, straight from the patch: no im2col buffer, each tap reads the patch at an offset. B is
/// output channels x channels, the packed weights. One step is 32 bytes of channels: 8 of 4 bytes
/// (m16n8k8), 16 of bfloat16 (m16n8k16). Accumulators stay in registers over all chunks of a tile.
///
/// What counts is ldmatrix.x4 per product, since shared memory is what convolutions wait for
/// (docs/decisions.md). Per step and warp with R = kRows and C = kColumns, all nine taps:
///   runs      9 R + 9 C / 2 loads for 9 R C products
///   strips    3 (R + 1) + 9 C / 2 loads for 9 R C products
///   quarters  4 + 9 C / 2 loads for 9 C products (of 36 C with the zeros)
namespace hearsay::engine::cuda {

/// The positions of the patch that this lane addresses for tap (0, 0): of pixel (lane mod 16) of
/// each of its warp's A fragments. Lane + 16 addresses the second 16 of the 32 bytes.
template <class Shape>
__device__ inline void find_rows(const ConvGeometry& g, int (&rows)[Shape::kRows]) {
#pragma unroll
  for (int f = 0; f < Shape::kRows; ++f) {
    const PixelPlace place = Shape::place(g, f, threadIdx.x % 16);
    rows[f] = (place.image * g.patch_h + Shape::patch_line(g, place.y)) * g.patch_w +
              Shape::patch_line(g, place.x);
  }
}

/// Where this lane's row of B begins in a chunk of packed weights, in bytes: one ldmatrix.x4 brings
/// two fragments of 8 output channels, lane mod 8 being the channel within each.
template <class Shape>
__device__ inline int weight_row() {
  const int lane = threadIdx.x % 32, warp_n = threadIdx.x / 32 / Shape::kWarpsM;
  return (warp_n * Shape::kColumns * 8 + lane % 8 + lane / 16 * 8) * Shape::kPitch +
         lane / 8 % 2 * 16;
}

/// sum += patch x weights, in runs of pixels: for tap k, tap l, step ascending, kRows A fragments
/// and kColumns / 2 pairs of B fragments are loaded, and each A multiplied with each B. a_at(f, k,
/// l, step) is the address of 16 bytes of fragment f's row for tap (k, l), in step `step` of 32
/// bytes. Fully unrolled for a kernel size known at compile time; kKernel 0: a loop over `kernel`.
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

/// The same for strips and kernels of 3 x 3. The strip's 2 kRows rows of pixels read 2 kRows + 2
/// rows of the patch: kRows + 1 pairs, 4 registers each, are loaded once per tap column l and step,
/// and serve the taps k = 0, 1, 2 above one another: fragment f takes pair f (k = 0), the lower
/// half of pair f and the upper of f + 1 (k = 1), pair f + 1 (k = 2). A third to a half fewer reads
/// of shared memory; 31 to 27 us forward with 16 channels and 16 peers (docs/performance.md).
/// pair_at(j, l, step) is the address of 16 bytes of rows 2 j and 2 j + 1, for taps (., l). Sums:
/// l, step, k.
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

/// The same for quarters (has_quarters), the input gradient of a 3 x 3 convolution of stride 2:
/// fragment 2 i + j of the sums is of pixels (2 a + i, 2 b + j), and each tap (k, l) contributes to
/// one of the four only, the others meeting zeros between the entries. Four A fragments, entries
/// (a + i, b + j), are loaded per step for all nine taps; entry_at(i, j, step) is the address of 16
/// bytes of one. Sums: step, k, l. 84 and 75 us to 61 and 50 at 16 peers (docs/performance.md).
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
