#pragma once

#include "hearsay/engine/cuda/conv/weight_gradient/conv_weight_multiply.cuh"

/// The weight gradient for few input channels (the images): dw(o, column) = sum over pixels of
/// g(pixel, o) x(pixel, column), where column (c kernel + k) kernel + l holds what tap (k, l) reads
/// of channel c: one product for all taps, instead of one per tap with mostly padded channels. That
/// is the order of the weights among the parameters; the geometry is that of `by_columns`. Columns
/// are never stored: lanes gather them from the patch. The first layer's weight gradient fell from
/// 21 to 9 us at 4 peers with it (docs/performance.md).
namespace hearsay::engine::cuda {

/// grad_output as TmaTiles has it; a patch is rows of `patch_row_bytes`, the channels of
/// neighbouring pixels side by side, brought by one TMA box whose "channels" are whole image rows
/// (row_box). 4 stages where kOut is 16, else 3. A stage is kOut / 16 boxes of grad_output, each
/// kPixels x 16 entries, and the patch, all rounded up to 1024 bytes; not swizzled unless entries
/// are bfloat16, and the patch never.
template <class Math, class Shape>
struct ColumnTiles : TmaGradOutput<Math, Shape, Shape::kOut == 16 ? 4 : 3> {
  using Base = TmaGradOutput<Math, Shape, Shape::kOut == 16 ? 4 : 3>;
  using Base::kOutGroups, Base::kOutGroupBytes, Base::p;
  static constexpr int kEntry = sizeof(typename Math::Entry);

  __device__ int row_bytes() const { return patch_row_bytes(p.geometry, kEntry); }
  __device__ int patch_bytes() const {
    return p.geometry.tile_i * p.geometry.patch_h * row_bytes();
  }
  __device__ int stage_bytes() const {
    return kOutGroups * kOutGroupBytes + tma_padded(patch_bytes());
  }
  __device__ char* grad_tile(int k) const {
    return this->stages + k % Base::kStages * stage_bytes();
  }
  __device__ char* patch(int k) const { return grad_tile(k) + kOutGroups * kOutGroupBytes; }
  __device__ int place(PixelPlace at) const {
    const ConvGeometry& g = p.geometry;
    return (at.image * g.patch_h + at.y * g.stride) * row_bytes() + patch_row_shift(g, kEntry) +
           at.x * g.stride * channels_of_columns(g) * kEntry;
  }
  /// Bytes from the place of a pixel to what a column reads; padding columns, whose sums are not
  /// stored, read the first entry.
  __device__ int column_offset(int column) const {
    const ConvGeometry& g = p.geometry;
    if (column >= g.in_c) return 0;
    const int taps = g.kernel * g.kernel, tap = column % taps;
    return tap / g.kernel * row_bytes() +
           (tap % g.kernel * channels_of_columns(g) + column / taps) * kEntry;
  }

  /// Thread 0 issues the TMA copies of the block's k-th tile: kOut / 16 boxes of grad_output and
  /// one box of tile_i images x patch_h rows x row_bytes().
  __device__ void ask(int k, int tile) const {
    if (threadIdx.x != 0) return;
    const ConvGeometry& g = p.geometry;
    const TileOrigin origin = tile_origin(g, tile);
    this->ask_grad_output(k, origin, grad_tile(k), patch_bytes());
    // Its map (row_box) has image rows in the place of columns, and images in that of rows.
    const int first = (origin.x * g.stride - g.pad) * channels_of_columns(g);
    copy_box(shared_address(patch(k)), this->x_map, 0, this->image(origin),
             origin.y * g.stride - g.pad, first - patch_row_shift(g, kEntry) / kEntry,
             this->barrier(k));
  }
};

/// The columns that a lane reads of a patch.
template <class Shape>
struct LaneColumns {
  static_assert(Shape::kWarpsIn == 1, "all warps have the same columns");
  int offset[Shape::kColumns];  ///< in bytes, from the place of a pixel on
  int ones = -1;                ///< which of them is 1 for every pixel: its sums are the bias's

  template <class Tiles>
  __device__ LaneColumns(const Tiles& tiles, int /*first_tap*/) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < Shape::kColumns; ++n) {
      const int column = Shape::input_of(n, lane / 4);
      offset[n] = tiles.column_offset(column);
      if (tiles.p.sums_ones && column == tiles.p.geometry.in_c) ones = n;
    }
  }
};

/// sum += grad_output^T x columns of one tile; place_of[pixel] is where tap (0, 0) of a pixel
/// reads, in bytes of the patch. A warp takes every kWarpsK-th piece of kPiece pixels (8 of 4
/// bytes, 16 of bfloat16): kRows A fragments, kColumns B fragments that each lane gathers word by
/// word at place + offset (bfloat16: two halves), kRows x kColumns products. Pieces ascending. The
/// gathers are scalar reads of shared memory, without regard to banks; what bounds it is not
/// measured.
template <class Math, class Shape, class Tiles>
__device__ inline void multiply_columns(const Tiles& tiles, const char* grad_output,
                                        const char* patch, const int* place_of,
                                        const LaneColumns<Shape>& columns, WarpSums<Shape>& sum) {
  constexpr int kPiece = Shape::kPiece;
  const int lane = threadIdx.x % 32;
  for (int piece = warp_of_pixels<Shape>(); piece < Shape::kPixels / kPiece;
       piece += Shape::kWarpsK) {
    std::uint32_t a[Shape::kRows][4];
    load_grad_output<Math, Shape>(tiles, grad_output, piece * kPiece, kPiece / 2, sum.out, a);
    std::uint32_t b[Shape::kColumns][2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if constexpr (sizeof(typename Math::Entry) == 4) {
        const char* near = patch + place_of[piece * 8 + half * 4 + lane % 4];
#pragma unroll
        for (int n = 0; n < Shape::kColumns; ++n) {
          const auto word = *reinterpret_cast<const std::uint32_t*>(near + columns.offset[n]);
          b[n][half] = n == columns.ones ? 0x3f800000 : word;
        }
      } else {  // two pixels a word
        const int2 places =
            *reinterpret_cast<const int2*>(place_of + piece * 16 + half * 8 + lane % 4 * 2);
#pragma unroll
        for (int n = 0; n < Shape::kColumns; ++n) {
          const char* at = patch + columns.offset[n];
          const std::uint32_t low = *reinterpret_cast<const std::uint16_t*>(at + places.x);
          const std::uint32_t high = *reinterpret_cast<const std::uint16_t*>(at + places.y);
          b[n][half] = n == columns.ones ? 0x3f803f80 : low | high << 16;
        }
      }
    }
#pragma unroll
    for (int n = 0; n < Shape::kColumns; ++n) {
#pragma unroll
      for (int f = 0; f < Shape::kRows; ++f) {
        Math::multiply(sum.of[0][f][n], a[f], b[n][0], b[n][1]);
      }
    }
  }
}

}  // namespace hearsay::engine::cuda
