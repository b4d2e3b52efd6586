#pragma once

#include <cstdint>

#include "hearsay/engine/cuda/conv/mma.cuh"
#include "hearsay/engine/cuda/int8/block.cuh"
#include "hearsay/engine/cuda/int8/weights.h"

/// Products of signed bytes with 32-bit sums, which are exact: the sum over the terms of a
/// convolution, for all pixels of an image that lies in shared memory.
///
/// The image is a canvas: pixels of `channels` bytes, `pixel_bytes` apart, with zeros wherever the
/// kernel reaches beyond the image. Output (y, x) is at pixel y columns + x, and tap (i, j) of it
/// reads canvas pixel (y step + i, x step + j). Terms come in units of 16 (a tap, 16 channels), two
/// units being the 32 terms of one mma.sync.m16n8k32; rows are pixels, columns are outputs.
/// Fragments of pixels are loaded with ldmatrix from wherever the tap is, those of weights from
/// global memory in the order of the lanes (weights.h), shared by all blocks of a peer.
namespace hearsay::engine::cuda::int8 {

struct Product {
  unsigned rows, columns;  ///< of outputs in a canvas
  unsigned step;           ///< canvas pixels between outputs
  unsigned kernel;         ///< taps per side
  unsigned canvas_width;   ///< pixels
  unsigned pixel_bytes;    ///< an odd multiple of 16: ldmatrix is free of bank conflicts
  unsigned groups_in;      ///< of 16 channels
  unsigned groups_out;

  bool operator==(const Product&) const = default;

  __host__ __device__ unsigned units() const { return kernel * kernel * groups_in; }
  __host__ __device__ unsigned steps() const { return (units() + 1) / 2; }
  /// Bytes of the table of units, rounded up to 16: sums follow it in shared memory.
  __host__ __device__ unsigned offset_bytes() const { return (steps() + 1) / 2 * 16; }
  __host__ __device__ unsigned canvas_height() const { return (rows - 1) * step + kernel; }
  __host__ __device__ unsigned canvas_bytes() const {
    return canvas_height() * canvas_width * pixel_bytes;
  }
};

/// Bytes between the pixels of a canvas.
constexpr unsigned pixel_bytes_of(unsigned channels) {
  return channels / 16 % 2 == 0 ? channels + 16 : channels;
}

/// Fills `offsets`, two per step, with where a unit's first tap is. All threads; a barrier follows.
__device__ inline void find_units(const Product& p, std::uint32_t* offsets) {
  for (unsigned u = threadIdx.x; u < 2 * p.steps(); u += blockDim.x) {
    const unsigned tap = u / p.groups_in, group = u % p.groups_in;
    const unsigned at = tap / p.kernel * p.canvas_width + tap % p.kernel;
    offsets[u] = u < p.units() ? at * p.pixel_bytes + 16 * group : 0;  // its weights are 0
  }
}

/// c += a b, 16 x 8 x 32.
__device__ inline void multiply_bytes(std::int32_t (&c)[4], const std::uint32_t (&a)[4],
                                      std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// All outputs of the canvas, a warp at a time with Rows x 16 pixels and Columns x 16 outputs in
/// its registers, and the weights of the next Ahead steps, beyond the last too. store(pixel,
/// output, first, second) gets the sums of two neighbouring outputs.
template <int Rows, int Columns, int Ahead, class Store>
__device__ void multiply_tiles(const Product& p, std::uint32_t canvas, const std::uint32_t* offsets,
                               const uint4* weights, const Store& store) {
  const unsigned lane = threadIdx.x % kWarp, g = lane / 4, t = lane % 4;
  const unsigned pixels = p.rows * p.columns;
  const unsigned row_tiles = (pixels + 16 * Rows - 1) / (16 * Rows);
  const unsigned column_tiles = p.groups_out / Columns;
  for (unsigned job = threadIdx.x / kWarp; job < row_tiles * column_tiles; job += kWarps) {
    const unsigned first_pixel = job / column_tiles * (16 * Rows);
    const unsigned first_group = job % column_tiles * Columns;
    std::uint32_t from[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const unsigned pixel = min(first_pixel + 16 * r + lane % 16, pixels - 1);
      const unsigned y = pixel / p.columns, x = pixel % p.columns;
      from[r] = canvas + (y * p.step * p.canvas_width + x * p.step) * p.pixel_bytes;
    }
    std::int32_t c[Rows][Columns][2][4] = {};
    const uint4* b = weights + first_group * kWarp + lane;
    const unsigned step_words = p.groups_out * kWarp, steps = p.steps();
    uint4 next[Ahead][Columns];
    const auto load = [&](uint4(&to)[Columns]) {
#pragma unroll
      for (int k = 0; k < Columns; ++k) to[k] = b[k * kWarp];
      b += step_words;
    };
#pragma unroll
    for (int s = 0; s < Ahead; ++s) load(next[s]);
#pragma unroll 1
    for (unsigned first = 0; first < steps; first += Ahead) {
#pragma unroll
      for (int k = 0; k < Ahead; ++k) {
        const unsigned s = first + k;
        if (s >= steps) break;
        uint4 factor[Columns];
#pragma unroll
        for (int column = 0; column < Columns; ++column) factor[column] = next[k][column];
        load(next[k]);
        const std::uint32_t unit = offsets[2 * s + lane / 16];
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
          std::uint32_t a[4];
          load_matrices(a, from[r] + unit);
#pragma unroll
          for (int column = 0; column < Columns; ++column) {
            multiply_bytes(c[r][column][0], a, factor[column].x, factor[column].y);
            multiply_bytes(c[r][column][1], a, factor[column].z, factor[column].w);
          }
        }
      }
    }
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const unsigned pixel = first_pixel + 16 * r + 8 * half + g;
        if (pixel >= pixels) continue;
#pragma unroll
        for (int k = 0; k < 2 * Columns; ++k) {
          store(pixel, 16 * first_group + 8 * k + 2 * t, c[r][k / 2][k % 2][2 * half],
                c[r][k / 2][k % 2][2 * half + 1]);
        }
      }
    }
  }
}

/// The same with the largest tiles of which every warp has one.
template <class Store>
__device__ void multiply(const Product& p, std::uint32_t canvas, const std::uint32_t* offsets,
                         const uint4* weights, const Store& store) {
  const unsigned tiles = (p.rows * p.columns + 15) / 16 * p.groups_out;
  if (tiles >= 4 * kWarps && p.groups_out % 2 == 0) {
    multiply_tiles<2, 2, 1>(p, canvas, offsets, weights, store);
  } else if (tiles >= 4 * kWarps) {
    multiply_tiles<4, 1, 1>(p, canvas, offsets, weights, store);
  } else if (tiles >= 2 * kWarps && p.groups_out % 2 == 0) {
    multiply_tiles<1, 2, 2>(p, canvas, offsets, weights, store);
  } else {
    multiply_tiles<1, 1, kMostAhead>(p, canvas, offsets, weights, store);
  }
}

/// All sums, as sums[pixel * outputs + output]. Returns the largest magnitude that the thread has
/// seen.
__device__ inline std::uint32_t multiply(const Product& p, std::uint32_t canvas,
                                         const std::uint32_t* offsets, const uint4* weights,
                                         std::int32_t* sums) {
  std::uint32_t most = 0;
  const unsigned outputs = 16 * p.groups_out;
  multiply(p, canvas, offsets, weights,
           [&](unsigned pixel, unsigned output, std::int32_t first, std::int32_t second) {
             *reinterpret_cast<int2*>(sums + std::size_t{pixel} * outputs + output) =
                 make_int2(first, second);
             most = max(most, max(abs(first), abs(second)));
           });
  return most;
}

}  // namespace hearsay::engine::cuda::int8
