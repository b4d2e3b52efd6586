#pragma once

#include <algorithm>

#include "hearsay/engine/cuda/conv/conv_kernels.h"
#include "hearsay/engine/cuda/conv/conv_tile.cuh"

namespace hearsay::engine::cuda {

/// How a block of `correlate` divides its part of the weights, kOut x kIn x kTaps, among its
/// kWarpsOut x kWarpsIn x kWarpsK warps: each has kRows fragments of 16 output channels, kColumns
/// of 8 input channels, all kTaps, and one in kWarpsK of a tile's kPixels pixels: 4 kRows kColumns
/// kTaps accumulators per thread.
template <class Math, int kWarpsOut_, int kWarpsIn_, int kWarpsK_, int kRows_, int kColumns_,
          int kTaps_, int kPixels_>
struct WeightShape {
  using Entry = typename Math::Entry;
  static constexpr int kWarpsOut = kWarpsOut_, kWarpsIn = kWarpsIn_, kWarpsK = kWarpsK_,
                       kRows = kRows_, kColumns = kColumns_, kTaps = kTaps_, kPixels = kPixels_;
  static constexpr int kThreads = 32 * kWarpsOut * kWarpsIn * kWarpsK;
  static constexpr int kOut = 16 * kWarpsOut * kRows, kIn = 8 * kWarpsIn * kColumns;
  static constexpr int kPiece = 32 / static_cast<int>(sizeof(Entry));  ///< pixels of one product
  /// Floats are read one by one, 4 pixels x 8 channels at a time; bfloat16 as rows of 16 bytes.
  static constexpr int pitch(int channels) {
    return sizeof(Entry) == 4 ? (channels + (channels % 16 == 0 ? 8 : 16)) * 4
                              : row_pitch(channels * 2);
  }
  static constexpr int kOutPitch = pitch(kOut), kInPitch = pitch(kIn);
  static constexpr int kFloats = kOut * kIn * kTaps;  ///< of the weights of a block

  /// The pixels of a product may be two rows of a strip; a warp can have kStripPieces such pairs
  /// below one another.
  static constexpr int kStripWidth = kPiece / 2;
  static constexpr int kStripPieces = std::min(4, kPixels / kPiece / kWarpsK);

  /// Floats of neighbouring channels are read two at a time: the two go to rows g and g + 8 of one
  /// fragment of output channels, or to the same column of two fragments of input channels.
  static constexpr int kTogether = sizeof(Entry) == 4 && kColumns % 2 == 0 ? 2 : 1;
  struct alignas(4 * kTogether) Words {
    std::uint32_t of[kTogether];
  };
  static constexpr int output_of(int fragment, int g, int second) {
    return fragment * 16 + (sizeof(Entry) == 4 ? 2 * g + second : g + 8 * second);
  }
  static constexpr int input_of(int fragment, int column) {
    return kTogether == 2 ? fragment / 2 * 16 + column * 2 + fragment % 2 : fragment * 8 + column;
  }
};

}  // namespace hearsay::engine::cuda
