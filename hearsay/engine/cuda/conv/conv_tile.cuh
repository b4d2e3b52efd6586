#pragma once

#include "hearsay/engine/cuda/conv/conv_geometry.h"
#include "hearsay/engine/cuda/conv/mma.cuh"
#include "hearsay/engine/cuda/numbers.h"

namespace hearsay::engine::cuda {

/// n / by.d for 0 <= n < 2^16, as the upper half of n (floor(2^32 / by.d) + 1).
__device__ inline int divide(int n, const Divisor& by) {
  return by.d == 1 ? n : static_cast<int>(__umulhi(static_cast<std::uint32_t>(n), by.magic));
}

/// Where a tile begins.
struct TileOrigin {
  int image, y, x;
};
__device__ inline TileOrigin tile_origin(const ConvGeometry& g, int tile) {
  const int per_image = g.tiles_y * g.tiles_x;
  const int group = tile / per_image;
  const int rest = tile - group * per_image;
  const int row = rest / g.tiles_x;
  return {group * g.tile_i, row * g.tile_h, (rest - row * g.tiles_x) * g.tile_w};
}

/// Place of an output pixel in its tile: image, row, column.
struct PixelPlace {
  int image, y, x;
};
__device__ inline PixelPlace pixel_place(const ConvGeometry& g, int pixel) {
  const int row = pixel >> g.log_w;
  return {row >> g.log_h, row & (g.tile_h - 1), pixel & (g.tile_w - 1)};
}

template <class Entry>
struct alignas(16) Sixteen {
  static constexpr int kEntries = 16 / sizeof(Entry);
  Entry entry[kEntries];
};

/// A tensor of one peer.
template <class Entry>
struct Source {
  const Entry* x;
  int height, width, channels;
};

/// The rectangle of a tensor that goes to shared memory: rows of `width` positions, row r of it
/// being row top + r mod height of image first_image + r / height. Positions beside the image are
/// zeros, as are those between its entries where these stand `dilation` apart.
struct Window {
  int first_image, images_there;  ///< how many exist from first_image on
  int rows;                       ///< images x height
  Divisor height;
  int width;
  int top, left;
  int dilation;
};

/// Brings kBytes of channels per position, from first_channel on, to shared memory, where positions
/// lie `pitch` bytes apart. A warp takes every (kThreads / 32)-th row of the window; a lane takes a
/// piece of 16 bytes of every (32 / pieces)-th position, so a warp reads 512 bytes at once, of
/// neighbouring positions. Offsets of kSpan columns per lane are computed once for all rows, which
/// keeps divisions by the dilation out of the inner loop. kWhole: the tensor's channels are whole
/// pieces, and copies are cp.async (zeros by a source size of 0), to be waited for by the caller;
/// else entries pass through registers one by one.
template <class Math, int kThreads, int kBytes, bool kWhole>
__device__ inline void copy_window(const Source<typename Math::Entry>& from, const Window& window,
                                   int first_channel, char* shared, int pitch) {
  using Entry = typename Math::Entry;
  constexpr int kPieces = kBytes / 16, kColumns = 32 / kPieces, kEntries = Sixteen<Entry>::kEntries;
  constexpr int kSpan = kPieces >= 8 ? 5 : 3;  // columns of a lane that are found once for all rows
  static_assert(32 % kPieces == 0);
  const int lane = threadIdx.x % 32, piece = lane % kPieces;
  const int channel = first_channel + piece * kEntries;
  const std::uint32_t to_lane = shared_address(shared) + piece * 16;
  for (int first = lane / kPieces; first < window.width; first += kSpan * kColumns) {
    int offset[kSpan];  // of the column in its line; -1: zeros
#pragma unroll
    for (int j = 0; j < kSpan; ++j) {
      int x = window.left + first + j * kColumns;
      bool inside = x >= 0 && channel < from.channels;
      if (window.dilation > 1) {
        inside = inside && x % window.dilation == 0;
        x /= window.dilation;
      }
      offset[j] = inside && x < from.width ? x * from.channels + channel : -1;
    }
    for (int row = threadIdx.x / 32; row < window.rows; row += kThreads / 32) {
      const int image = divide(row, window.height);
      int y = window.top + row - image * window.height.d;
      bool there = image < window.images_there && y >= 0;
      if (window.dilation > 1) {
        there = there && y % window.dilation == 0;
        y /= window.dilation;
      }
      there = there && y < from.height;
      const int lines = there ? (window.first_image + image) * from.height + y : 0;
      const Entry* line = from.x + static_cast<long>(lines) * from.width * from.channels;
      const int place = row * window.width + first;
#pragma unroll
      for (int j = 0; j < kSpan; ++j) {
        if (first + j * kColumns >= window.width) break;
        const bool inside = there && offset[j] >= 0;
        const int at = (place + j * kColumns) * pitch;
        const Entry* pixel = line + (offset[j] >= 0 ? offset[j] : 0);
        if constexpr (kWhole) {
          copy_16_async(to_lane + at, pixel, inside ? 16 : 0);
        } else {
          Sixteen<Entry> value;
#pragma unroll
          for (int i = 0; i < kEntries; ++i) {
            value.entry[i] =
                inside && channel + i < from.channels ? pixel[i] : from_float<Entry>(0.0f);
          }
          *reinterpret_cast<Sixteen<Entry>*>(shared + piece * 16 + at) = value;
        }
      }
    }
  }
}

/// Where piece `piece` of 16 bytes of position `row` stands in a patch whose positions have kBytes
/// (32, 64 or 128), in bytes: TMA's swizzle of that width, which xors the piece with bits of the
/// row, so that the same piece of neighbouring rows lies in different banks, as ldmatrix reads
/// them. The patch must begin at a multiple of 1024 bytes.
template <int kBytes>
__device__ inline int swizzled(int row, int piece) {
  constexpr int kRowsAlike = 128 / kBytes;
  return row * kBytes + (piece ^ row / kRowsAlike % (kBytes / 16)) * 16;
}

/// What the taps of a tile read.
__device__ inline Window patch_window(const ConvGeometry& g, TileOrigin origin) {
  return {origin.image, g.images - origin.image,     g.tile_i * g.patch_h,        g.patch_height,
          g.patch_w,    origin.y * g.stride - g.pad, origin.x * g.stride - g.pad, g.dilation};
}

/// The output pixels of a tile.
__device__ inline Window pixel_window(const ConvGeometry& g, TileOrigin origin) {
  return {origin.image,
          g.images - origin.image,
          g.tile_i * g.tile_h,
          g.tile_height,
          g.tile_w,
          origin.y,
          origin.x,
          1};
}

/// Bytes from row to row in shared memory, for `bytes` of data: 8 rows then lie in 8 groups of
/// banks.
constexpr int row_pitch(int bytes) { return bytes / 16 % 2 == 0 ? bytes + 16 : bytes; }

}  // namespace hearsay::engine::cuda
