#pragma once

#include "hearsay/engine/cuda/conv/weight_gradient/conv_weight_tiles.cuh"

/// The products of a tile of grad_output and its patch in shared memory, for all taps of a block's
/// weights: dw(tap, o, i) += sum over the tile's pixels of g(pixel, o) x(pixel + tap, i), on the
/// tensor cores. The summed index is the pixel: A is output channels x pixels, B pixels x input
/// channels, both transposed to how they lie in shared memory. bfloat16 is transposed by
/// ldmatrix.trans; 4-byte entries, which it cannot transpose, are read word by word (8 bytes where
/// two channels go together, WeightShape::kTogether).
namespace hearsay::engine::cuda {

/// A warp's accumulators, in registers for all tiles of a block's split: 4 kTaps kRows kColumns per
/// thread. The warp has the channels from (out, in) of the block on.
template <class Shape>
struct WarpSums {
  static constexpr int kFragments = Shape::kTaps * Shape::kRows * Shape::kColumns;

  int out = 0, in = 0;
  float of[Shape::kTaps][Shape::kRows][Shape::kColumns][4] = {};
};

/// Which of the kWarpsK warps that share weights, and divide the tile's pixels, this one is.
template <class Shape>
__device__ inline int warp_of_pixels() {
  return static_cast<int>(threadIdx.x) / 32 % Shape::kWarpsK;
}

/// kRows A fragments (16 output channels x kPiece pixels) of grad_output: kPiece / 2 pixels from
/// `pixel` on, and as many that stand `apart` pixels further on.
template <class Math, class Shape, class Tiles>
__device__ inline void load_grad_output(const Tiles&, const char* grad_output, int pixel, int apart,
                                        int out, std::uint32_t (&a)[Shape::kRows][4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int f = 0; f < Shape::kRows; ++f) {
    if constexpr (sizeof(typename Math::Entry) == 4) {
      const char* at = grad_output + (pixel + lane % 4) * Tiles::kOutRow + lane / 4 * 8 +
                       Tiles::grad_offset(out + f * 16);
      const uint2 near = *reinterpret_cast<const uint2*>(at);
      const uint2 far = *reinterpret_cast<const uint2*>(at + apart * Tiles::kOutRow);
      a[f][0] = near.x;
      a[f][1] = near.y;
      a[f][2] = far.x;
      a[f][3] = far.y;
    } else {
      load_matrices_transposed(a[f], shared_address(grad_output) +
                                         Tiles::grad_piece(pixel + lane / 16 * apart + lane % 8,
                                                           out + f * 16 + lane / 8 % 2 * 8));
    }
  }
}

/// A thread's part of the bias gradient: the sum of grad_output over every (kThreads / kOut)-th
/// pixel of the tile, ascending, for output channel threadIdx.x mod kOut of the block.
template <class Math, class Shape, class Tiles>
__device__ inline float sum_of_grad_output(const Tiles&, const char* grad_output) {
  using Entry = typename Math::Entry;
  constexpr int kApart = Shape::kThreads / Shape::kOut;
  const int out = threadIdx.x % Shape::kOut;
  float sum = 0;
#pragma unroll 4
  for (int pixel = threadIdx.x / Shape::kOut; pixel < Shape::kPixels; pixel += kApart) {
    if constexpr (sizeof(Entry) == 4) {
      sum += to_float(*reinterpret_cast<const Entry*>(grad_output + pixel * Tiles::kOutRow +
                                                      Tiles::grad_offset(out)));
    } else {
      const char* piece = grad_output + Tiles::grad_piece(pixel, out / 8 * 8);
      sum += to_float(reinterpret_cast<const Entry*>(piece)[out % 8]);
    }
  }
  return sum;
}

/// From the place of a pixel on, in bytes, where the taps of a block read.
template <class Shape>
struct TapOffsets {
  int tap[Shape::kTaps];

  template <class Tiles>
  __device__ TapOffsets(const Tiles& tiles, int first_tap) {
    const ConvGeometry& g = tiles.p.geometry;
#pragma unroll
    for (int i = 0; i < Shape::kTaps; ++i) {
      const int t = min(first_tap + i, g.taps - 1);  // those beyond are computed and not stored
      tap[i] = (t / g.kernel * g.patch_w + t % g.kernel) * Tiles::kInRow;
    }
  }
};

/// For any kernel, stride and tile. A warp takes every kWarpsK-th piece of kPiece consecutive
/// pixels, ascending; per piece kRows A fragments are loaded once, and for each tap and fragment
/// column a B fragment at the tap's offset: 9 reads of the patch per piece. place_of[pixel] is
/// where tap (0, 0) of a pixel reads, in bytes of the patch (in shared memory, computed once per
/// block).
template <class Math, class Shape, class Tiles>
__device__ inline void multiply_pieces(const Tiles& tiles, const char* grad_output,
                                       const char* patch, const int* place_of,
                                       const int (&tap_offset)[Shape::kTaps],
                                       WarpSums<Shape>& sum) {
  constexpr int kPiece = Shape::kPiece, kTogether = Shape::kTogether;
  const int lane = threadIdx.x % 32;
  for (int piece = warp_of_pixels<Shape>(); piece < Shape::kPixels / kPiece;
       piece += Shape::kWarpsK) {
    std::uint32_t a[Shape::kRows][4];
    load_grad_output<Math, Shape>(tiles, grad_output, piece * kPiece, kPiece / 2, sum.out, a);
    if constexpr (sizeof(typename Math::Entry) == 4) {
      const int pixel = piece * 8 + lane % 4;
      const char* near = patch + place_of[pixel] + lane / 4 * kTogether * 4;
      const char* far = patch + place_of[pixel + 4] + lane / 4 * kTogether * 4;
#pragma unroll
      for (int n = 0; n < Shape::kColumns; n += kTogether) {
        const int offset = tiles.patch_offset(sum.in + n * 8);
#pragma unroll
        for (int tap = 0; tap < Shape::kTaps; ++tap) {
          using Words = typename Shape::Words;
          const auto b0 = *reinterpret_cast<const Words*>(near + tap_offset[tap] + offset);
          const auto b1 = *reinterpret_cast<const Words*>(far + tap_offset[tap] + offset);
#pragma unroll
          for (int t = 0; t < kTogether; ++t) {
            const std::uint32_t k0 = b0.of[t], k1 = b1.of[t];
#pragma unroll
            for (int f = 0; f < Shape::kRows; ++f) {
              Math::multiply(sum.of[tap][f][n + t], a[f], k0, k1);
            }
          }
        }
      }
    } else {
      const int place = place_of[piece * 16 + lane % 16];
#pragma unroll
      for (int tap = 0; tap < Shape::kTaps; ++tap) {
#pragma unroll
        for (int n = 0; n < Shape::kColumns; ++n) {
          std::uint32_t b0, b1;
          load_two_matrices_transposed(
              b0, b1,
              shared_address(patch) + tiles.patch_piece(place + tap_offset[tap], sum.in + n * 8));
#pragma unroll
          for (int f = 0; f < Shape::kRows; ++f) Math::multiply(sum.of[tap][f][n], a[f], b0, b1);
        }
      }
    }
  }
}

/// For kernels of 3 x 3 with stride 1, and tiles of whole strips: kStripWidth pixels wide (4, of
/// bfloat16 8) and 2 kPieces high. A piece is two rows of a strip. The 2 kPieces + 2 rows of the
/// patch that a strip reads are loaded once each for the three shifts l, two rows ahead of the
/// products, and a row stays in registers for the three taps k above one another: up to 3 kColumns
/// (2 kPieces + 2) registers, all indices known at compile time. Warps take every kWarpsK-th strip;
/// sums are over strips, then pieces, ascending. Weight gradients at 16 peers with it: 41 to 25 us
/// (16 channels), 35 to 19 (32), 27 to 18 (64); registers limit it next (docs/performance.md).
template <class Math, class Shape, int kPieces, class Tiles>
__device__ inline void multiply_strips(const Tiles& tiles, const ConvGeometry& g,
                                       const char* grad_output, const char* patch,
                                       WarpSums<Shape>& sum) {
  constexpr int kWidth = Shape::kStripWidth, kTogether = Shape::kTogether;
  constexpr int kStrips = Shape::kPixels / (2 * kPieces * kWidth);
  const int lane = threadIdx.x % 32;
  const int log_across = g.log_w - (kWidth == 4 ? 2 : 3);
  for (int strip = warp_of_pixels<Shape>(); strip < kStrips; strip += Shape::kWarpsK) {
    // The strip's first pixel, and the position of the patch that tap (0, 0) of it reads.
    const int y = (strip >> log_across) * 2 * kPieces;  // in the rows of all images
    const int x = (strip & ((1 << log_across) - 1)) * kWidth;
    const int corner = ((y >> g.log_h) * g.patch_h + (y & (g.tile_h - 1))) * g.patch_w + x;
    std::uint32_t rows[2 * kPieces + 2][3][Shape::kColumns];  // of the patch, shifted by 0, 1, 2
    // Rows r and r + 1 of the patch for all three shifts, as halves of B fragments.
    const auto load_two_rows = [&](int r) {
#pragma unroll
      for (int l = 0; l < 3; ++l) {
        if constexpr (sizeof(typename Math::Entry) == 4) {
#pragma unroll
          for (int i = r; i < r + 2; ++i) {
            const char* at = patch + (corner + i * g.patch_w + l + lane % 4) * Tiles::kInRow +
                             lane / 4 * kTogether * 4;
#pragma unroll
            for (int n = 0; n < Shape::kColumns; n += kTogether) {
              const auto words = *reinterpret_cast<const typename Shape::Words*>(
                  at + tiles.patch_offset(sum.in + n * 8));
#pragma unroll
              for (int t = 0; t < kTogether; ++t) rows[i][l][n + t] = words.of[t];
            }
          }
        } else {
          const int place =
              (corner + (r + lane / 8 % 2) * g.patch_w + l + lane % 8) * Tiles::kInRow;
#pragma unroll
          for (int n = 0; n < Shape::kColumns; ++n) {
            load_two_matrices_transposed(
                rows[r][l][n], rows[r + 1][l][n],
                shared_address(patch) + tiles.patch_piece(place, sum.in + n * 8));
          }
        }
      }
    };
    load_two_rows(0);
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      load_two_rows(2 * piece + 2);
      std::uint32_t a[Shape::kRows][4];
      load_grad_output<Math, Shape>(tiles, grad_output, (y + 2 * piece) * g.tile_w + x, g.tile_w,
                                    sum.out, a);
      // Tap (k, l) multiplies the piece's two rows of grad_output with patch rows 2 piece + k and
      // 2 piece + k + 1, shifted by l.
#pragma unroll
      for (int k = 0; k < 3; ++k) {
#pragma unroll
        for (int l = 0; l < 3; ++l) {
#pragma unroll
          for (int n = 0; n < Shape::kColumns; ++n) {
#pragma unroll
            for (int f = 0; f < Shape::kRows; ++f) {
              Math::multiply(sum.of[k * 3 + l][f][n], a[f], rows[2 * piece + k][l][n],
                             rows[2 * piece + k + 1][l][n]);
            }
          }
        }
      }
    }
  }
}

}  // namespace hearsay::engine::cuda
