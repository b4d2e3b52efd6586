#pragma once

#include "hearsay/engine/cuda/bulk.cuh"
#include "hearsay/engine/cuda/conv_weight_shape.cuh"

/// How the tiles of slopes and patches that `correlate` multiplies come to shared memory, two at a
/// time, and where their entries stand there.
namespace hearsay::engine::cuda {

/// Tiles in shared memory that threads bring there: a row of kOutPitch bytes a pixel of the slopes,
/// one of kInPitch a position of the patch.
template <class Math, class Shape, bool kWhole>
struct WindowTiles {
  using Entry = typename Math::Entry;
  static constexpr int kOutRow = Shape::kOutPitch, kInRow = Shape::kInPitch;

  const WeightLaunch& p;
  Source<Entry> x, slope;
  int first_out, first_in;
  char* stages;

  __device__ static int stage_bytes(const ConvGeometry& g) {
    return Shape::kPixels * kOutRow + g.patch_positions() * kInRow;
  }
  __device__ char* slopes(int k) const { return stages + k % 2 * stage_bytes(p.geometry); }
  __device__ char* patch(int k) const { return slopes(k) + Shape::kPixels * kOutRow; }
  /// Where a channel's entries begin, in bytes, from the row of a pixel or a position.
  __device__ static int slope_offset(int channel) {
    return channel * static_cast<int>(sizeof(Entry));
  }
  __device__ int patch_offset(int channel) const {
    return channel * static_cast<int>(sizeof(Entry));
  }
  /// Of 8 neighbouring channels of bfloat16.
  __device__ static int slope_piece(int pixel, int channel) {
    return pixel * kOutRow + channel * 2;
  }
  __device__ int patch_piece(int place, int channel) const { return place + channel * 2; }

  __device__ void ask(int k, int tile) const {
    const TileOrigin origin = tile_origin(p.geometry, tile);
    copy_window<Math, Shape::kThreads, Shape::kOut* static_cast<int>(sizeof(Entry)), kWhole>(
        slope, pixel_window(p.geometry, origin), first_out, slopes(k), kOutRow);
    copy_window<Math, Shape::kThreads, Shape::kIn* static_cast<int>(sizeof(Entry)), kWhole>(
        x, patch_window(p.geometry, origin), first_in, patch(k), kInRow);
    commit_copies();
  }
  __device__ void wait(int) const { wait_for_copies(); }
};

/// Tiles that the hardware brings: for every 16 channels the pixels or positions one after another.
template <class Math, class Shape>
struct BulkTiles {
  using Entry = typename Math::Entry;
  static constexpr int kRow = 16 * static_cast<int>(sizeof(Entry)), kOutRow = kRow, kInRow = kRow;
  static constexpr int kOutGroups = Shape::kOut / 16, kInGroups = Shape::kIn / 16;
  static_assert(Shape::kIn % 16 == 0);

  const WeightLaunch& p;
  const CUtensorMap *slope_map, *x_map;
  int first_out, first_in;
  char* stages;
  Barrier* barriers;  ///< two

  __device__ int patch_room() const { return bulk_room(p.geometry.patch_positions() * kRow); }
  __device__ int stage_bytes() const {
    return kOutGroups * bulk_room(Shape::kPixels * kRow) + kInGroups * patch_room();
  }
  __device__ char* slopes(int k) const { return stages + k % 2 * stage_bytes(); }
  __device__ char* patch(int k) const {
    return slopes(k) + kOutGroups * bulk_room(Shape::kPixels * kRow);
  }
  __device__ static int slope_offset(int channel) {
    return channel / 16 * bulk_room(Shape::kPixels * kRow) + channel % 16 * 4;
  }
  __device__ int patch_offset(int channel) const {
    return channel / 16 * patch_room() + channel % 16 * 4;
  }
  __device__ static int slope_piece(int pixel, int channel) {
    return channel / 16 * bulk_room(Shape::kPixels * kRow) + swizzled<32>(pixel, channel % 16 / 8);
  }
  __device__ int patch_piece(int place, int channel) const {
    return channel / 16 * patch_room() + swizzled<32>(place / kRow, channel % 16 / 8);
  }

  __device__ void ask(int k, int tile) const {
    if (threadIdx.x != 0) return;
    const ConvGeometry& g = p.geometry;
    const std::uint32_t barrier = shared_address(barriers + k % 2);
    expect_bytes(barrier,
                 kOutGroups * Shape::kPixels * kRow + kInGroups * g.patch_positions() * kRow);
    const TileOrigin origin = tile_origin(g, tile);
    const int image = blockIdx.z * g.images + origin.image;
#pragma unroll
    for (int group = 0; group < kOutGroups; ++group) {
      copy_box(shared_address(slopes(k)) + group * bulk_room(Shape::kPixels * kRow), slope_map,
               image, origin.y, origin.x, first_out + group * 16, barrier);
    }
#pragma unroll
    for (int group = 0; group < kInGroups; ++group) {
      copy_box(shared_address(patch(k)) + group * patch_room(), x_map, image,
               origin.y * g.stride - g.pad, origin.x * g.stride - g.pad, first_in + group * 16,
               barrier);
    }
  }
  __device__ void wait(int k) const { wait_at(shared_address(barriers + k % 2), k / 2 % 2); }
};

}  // namespace hearsay::engine::cuda
