#pragma once

#include "hearsay/engine/cuda/conv/tma.cuh"
#include "hearsay/engine/cuda/conv/weight_gradient/conv_weight_shape.cuh"

/// How the tiles of grad_output and patches of x that `correlate` multiplies come to shared memory,
/// kStages at a time, and where their entries stand there. `ask(k, tile)` issues the copies of the
/// block's k-th tile, `wait(k)` waits for them.
namespace hearsay::engine::cuda {

/// Where tap (0, 0) of a pixel reads, where positions lie `row` bytes apart.
__device__ inline int place_of_rows(const ConvGeometry& g, PixelPlace at, int row) {
  return ((at.image * g.patch_h + at.y * g.stride) * g.patch_w + at.x * g.stride) * row;
}

/// Tiles that threads copy with cp.async (copy_window), double-buffered. A stage is kPixels rows of
/// kOutPitch bytes, grad_output, and a row of kInPitch bytes per position of the patch; pitches are
/// such that the reads of the products meet different banks.
template <class Math, class Shape, bool kWhole>
struct WindowTiles {
  using Entry = typename Math::Entry;
  static constexpr int kStages = 2, kOutRow = Shape::kOutPitch, kInRow = Shape::kInPitch;

  const WeightLaunch& p;
  Source<Entry> x, grad_output;
  int first_out, first_in;
  char* stages;

  __device__ static int stage_bytes(const ConvGeometry& g) {
    return Shape::kPixels * kOutRow + g.patch_positions() * kInRow;
  }
  __device__ char* grad_tile(int k) const { return stages + k % 2 * stage_bytes(p.geometry); }
  __device__ char* patch(int k) const { return grad_tile(k) + Shape::kPixels * kOutRow; }
  /// Where a channel's entries begin, in bytes, from the row of a pixel or a position.
  __device__ static int grad_offset(int channel) {
    return channel * static_cast<int>(sizeof(Entry));
  }
  __device__ int place(PixelPlace at) const { return place_of_rows(p.geometry, at, kInRow); }
  __device__ int patch_offset(int channel) const {
    return channel * static_cast<int>(sizeof(Entry));
  }
  /// Of 8 neighbouring channels of bfloat16.
  __device__ static int grad_piece(int pixel, int channel) { return pixel * kOutRow + channel * 2; }
  __device__ int patch_piece(int place, int channel) const { return place + channel * 2; }

  /// All threads issue their cp.async of the block's k-th tile, as one group.
  __device__ void ask(int k, int tile) const {
    const TileOrigin origin = tile_origin(p.geometry, tile);
    copy_window<Math, Shape::kThreads, Shape::kOut* static_cast<int>(sizeof(Entry)), kWhole>(
        grad_output, pixel_window(p.geometry, origin), first_out, grad_tile(k), kOutRow);
    copy_window<Math, Shape::kThreads, Shape::kIn* static_cast<int>(sizeof(Entry)), kWhole>(
        x, patch_window(p.geometry, origin), first_in, patch(k), kInRow);
    commit_copies();
  }
  __device__ void wait(int) const { wait_for_copies(); }
};

/// Tiles that TMA brings, kStages at a time, as far as grad_output goes: a box per 16 channels, in
/// which the pixels follow one another, 16 entries each (64 bytes, or 32 swizzled of bfloat16),
/// rounded up to 1024 bytes. One mbarrier per stage; thread 0 issues all copies.
template <class Math, class Shape, int kStages_>
struct TmaGradOutput {
  using Entry = typename Math::Entry;
  static constexpr int kStages = kStages_;
  static constexpr int kOutRow = 16 * static_cast<int>(sizeof(Entry));
  static constexpr int kOutGroups = Shape::kOut / 16;
  static constexpr int kOutGroupBytes = tma_padded(Shape::kPixels * kOutRow);

  const WeightLaunch& p;
  const CUtensorMap *grad_output_map, *x_map;
  int first_out, first_in;
  char* stages;
  Barrier* barriers;  ///< kStages

  __device__ static int grad_offset(int channel) {
    return channel / 16 * kOutGroupBytes + channel % 16 * 4;
  }
  __device__ static int grad_piece(int pixel, int channel) {
    return channel / 16 * kOutGroupBytes + swizzled<32>(pixel, channel % 16 / 8);
  }

  __device__ std::uint32_t barrier(int k) const { return shared_address(barriers + k % kStages); }
  __device__ void wait(int k) const { wait_at(barrier(k), k / kStages % 2); }
  /// Of tile k; its barrier also counts the `patch_bytes` that the caller copies.
  __device__ void ask_grad_output(int k, TileOrigin origin, const char* to, int patch_bytes) const {
    expect_bytes(barrier(k), kOutGroups * Shape::kPixels * kOutRow + patch_bytes);
#pragma unroll
    for (int group = 0; group < kOutGroups; ++group) {
      copy_box(shared_address(to) + group * kOutGroupBytes, grad_output_map, image(origin),
               origin.y, origin.x, first_out + group * 16, barrier(k));
    }
  }
  __device__ int image(TileOrigin origin) const {  // among those of all peers
    return blockIdx.z * p.geometry.images + origin.image;
  }
};

/// With patches laid out alike: a box per 16 input channels, in which the positions follow one
/// another. Two stages: a tile is copied while the one before is multiplied. Shared memory per
/// stage: kOut / 16 x kOutGroupBytes + kIn / 16 x patch_group_bytes() bytes.
template <class Math, class Shape>
struct TmaTiles : TmaGradOutput<Math, Shape, 2> {
  using Base = TmaGradOutput<Math, Shape, 2>;
  using Base::barrier, Base::first_in, Base::kOutGroups, Base::kOutGroupBytes, Base::p;
  static constexpr int kInRow = Base::kOutRow, kInGroups = Shape::kIn / 16;
  static_assert(Shape::kIn % 16 == 0);

  __device__ int patch_group_bytes() const {
    return tma_padded(p.geometry.patch_positions() * kInRow);
  }
  __device__ int stage_bytes() const {
    return kOutGroups * kOutGroupBytes + kInGroups * patch_group_bytes();
  }
  __device__ char* grad_tile(int k) const { return this->stages + k % 2 * stage_bytes(); }
  __device__ char* patch(int k) const { return grad_tile(k) + kOutGroups * kOutGroupBytes; }
  __device__ int place(PixelPlace at) const { return place_of_rows(p.geometry, at, kInRow); }
  __device__ int patch_offset(int channel) const {
    return channel / 16 * patch_group_bytes() + channel % 16 * 4;
  }
  __device__ int patch_piece(int place, int channel) const {
    return channel / 16 * patch_group_bytes() + swizzled<32>(place / kInRow, channel % 16 / 8);
  }

  /// Thread 0 issues the TMA copies of the block's k-th tile: kOut / 16 + kIn / 16 boxes. Padding
  /// comes as zeros from outside the images.
  __device__ void ask(int k, int tile) const {
    if (threadIdx.x != 0) return;
    const ConvGeometry& g = p.geometry;
    const TileOrigin origin = tile_origin(g, tile);
    this->ask_grad_output(k, origin, grad_tile(k), kInGroups * g.patch_positions() * kInRow);
#pragma unroll
    for (int group = 0; group < kInGroups; ++group) {
      copy_box(shared_address(patch(k)) + group * patch_group_bytes(), this->x_map,
               this->image(origin), origin.y * g.stride - g.pad, origin.x * g.stride - g.pad,
               first_in + group * 16, barrier(k));
    }
  }
};

}  // namespace hearsay::engine::cuda
