#pragma once

#include "hearsay/engine/cuda/conv/convolve/conv_patch.cuh"
#include "hearsay/engine/cuda/conv/convolve/conv_tma.cuh"
#include "hearsay/engine/cuda/conv/weight_gradient/conv_weight_parts.cuh"
#include "hearsay/engine/cuda/conv/weight_gradient/conv_weights.cuh"

namespace hearsay::engine::cuda {

template <class Math, class Shape, bool kWhole>
constexpr ConvKernel describe() {
  using Entry = typename Math::Entry;
  return {
      .threads = Shape::kThreads,
      .pixels = Shape::kPixels,
      .out = Shape::kOut,
      .bytes = Shape::kBytes,
      .pitch = Shape::kPitch,
      .stages = Shape::kStages,
      .strip_height = Shape::kStripHeight,
      .quarters = Shape::kQuarters,
      .epilogue = {Epilogue<Entry, Shape, false>::kShared, Epilogue<Entry, Shape, true>::kShared},
      .whole = kWhole};
}

template <class Math, class Shape>
constexpr ConvKernel conv_3x3() {
  ConvKernel kernel = describe<Math, Shape, true>();
  kernel.of_3x3[0] = convolve<Math, Shape, 3, true, false>;
  kernel.of_3x3[1] = convolve<Math, Shape, 3, true, true>;
  return kernel;
}

template <class Math, class Shape, bool kWhole>
constexpr ConvKernel conv_any() {
  ConvKernel kernel = describe<Math, Shape, kWhole>();
  kernel.any[0] = convolve<Math, Shape, 0, kWhole, false>;
  kernel.any[1] = convolve<Math, Shape, 0, kWhole, true>;
  return kernel;
}

template <class Math, class Shape>
constexpr ConvKernel tma_3x3() {
  ConvKernel kernel = describe<Math, Shape, true>();
  if constexpr (!Shape::kQuarters) kernel.tma_3x3[0] = convolve_tma<Math, Shape, false>;
  kernel.tma_3x3[1] = convolve_tma<Math, Shape, true>;
  return kernel;
}

template <class Math, class Shape, bool kWhole>
constexpr WeightKernel describe_weights() {
  WeightKernel kernel{.launch = nullptr,
                      .tma = nullptr,
                      .strips = {},
                      .add = add_weight_parts<Shape>,
                      .add_many = add_many_parts<Shape>,
                      .threads = Shape::kThreads,
                      .pixels = Shape::kPixels,
                      .out = Shape::kOut,
                      .in = Shape::kIn,
                      .taps = Shape::kTaps,
                      .stages = 2,
                      .shares = Shape::kWarpsOut * Shape::kWarpsIn,
                      .direct = Shape::kWarpsK == 1,
                      .out_pitch = Shape::kOutPitch,
                      .in_pitch = Shape::kInPitch,
                      .sum_bytes = Shape::kWarpsK * Shape::kFloats * 4,
                      .box_bytes = 16 * static_cast<int>(sizeof(typename Math::Entry)),
                      .strip_width = Shape::kStripWidth,
                      .strip_height = 2 * Shape::kStripPieces,
                      .whole = kWhole};
  return kernel;
}

template <class Math, class Shape, bool kWhole>
constexpr WeightKernel weight_kernel() {
  WeightKernel kernel = describe_weights<Math, Shape, kWhole>();
  kernel.launch = correlate<Math, Shape, kWhole>;
  if constexpr (kWhole) {
    kernel.tma = correlate_tma<Math, Shape, Products::kPieces>;
    if constexpr (Shape::kTaps == 9) {
      kernel.strips[0] = correlate_tma<Math, Shape, Products::kStrips>;
      if constexpr (Shape::kStripPieces > 1) {
        kernel.strips[1] = correlate_tma<Math, Shape, Products::kHalfStrips>;
      }
    }
  }
  return kernel;
}

template <class Math, class Shape>
constexpr WeightKernel weight_columns() {
  WeightKernel kernel = describe_weights<Math, Shape, false>();
  kernel.tma = correlate_tma<Math, Shape, Products::kColumns>;
  kernel.stages = ColumnTiles<Math, Shape>::kStages;
  return kernel;
}

/// The shapes there are; conv_choice.cpp chooses among those that fit, TMA kernels first. A shape
/// (wm, wn, r, c, ...) is 32 wm wn threads with a tile of 16 wm r pixels x 8 wn c output channels
/// and 4 r c accumulators per thread: the first is 128 threads, 128 pixels x 16 channels, 16
/// accumulators. Blocks of four warps were measured faster than of eight (docs/performance.md).
template <class Math>
inline constexpr ConvKernel kConvKernels[] = {
    // warps by pixels, by channels; fragments of 16 pixels, of 8 channels; bytes; stages; blocks
    tma_3x3<Math, ConvShape<4, 1, 2, 2, 32, 2, 4, Pixels::kStrips>>(),
    tma_3x3<Math, ConvShape<4, 1, 2, 2, 64, 2, 4, Pixels::kStrips>>(),
    tma_3x3<Math, ConvShape<2, 2, 4, 2, 64, 2, 2, Pixels::kStrips>>(),
    tma_3x3<Math, ConvShape<2, 2, 4, 2, 128, 2, 2, Pixels::kStrips>>(),
    tma_3x3<Math, ConvShape<2, 2, 2, 2, 128, 2, 2, Pixels::kStrips>>(),
    tma_3x3<Math, ConvShape<4, 2, 2, 4, 64, 3, 1, Pixels::kStrips>>(),
    tma_3x3<Math, ConvShape<4, 1, 2, 4, 64, 2, 2>>(),
    tma_3x3<Math, ConvShape<4, 1, 2, 4, 128, 2, 2>>(),
    tma_3x3<Math, ConvShape<4, 2, 2, 4, 64, 3, 1>>(),
    tma_3x3<Math, ConvShape<4, 2, 1, 2, 64, 4, 1>>(),
    tma_3x3<Math, ConvShape<4, 1, 4, 2, 64, 2, 3, Pixels::kQuarters>>(),
    tma_3x3<Math, ConvShape<4, 1, 4, 2, 128, 2, 3, Pixels::kQuarters>>(),
    conv_3x3<Math, ConvShape<4, 1, 4, 2, 32, 1, 3>>(),
    conv_3x3<Math, ConvShape<4, 1, 4, 2, 64, 1, 3>>(),
    conv_3x3<Math, ConvShape<4, 1, 2, 4, 64, 2, 3>>(),
    conv_3x3<Math, ConvShape<4, 2, 2, 4, 64, 1, 1>>(),
    conv_any<Math, ConvShape<4, 1, 2, 4, 64, 2, 3>, true>(),
    conv_any<Math, ConvShape<4, 1, 4, 2, 32, 1, 3>, false>(),
    conv_any<Math, ConvShape<4, 1, 1, 4, 32, 1, 3>, false>(),
};

/// The same of weight gradients: a shape (wo, wi, wk, r, c, taps, pixels) is 32 wo wi wk threads
/// with 16 wo r output x 8 wi c input channels x taps weights and 4 r c taps accumulators per
/// thread (72 in the shapes of nine taps for whole channels), going over tiles of `pixels`.
template <class Math>
inline constexpr WeightKernel kWeightKernels[] = {
    // warps by output channels, by input channels, by pixels; fragments of 16 and 8; taps; pixels
    weight_columns<Math, WeightShape<Math, 1, 1, 8, 1, 4, 1, 128>>(),
    weight_columns<Math, WeightShape<Math, 2, 1, 4, 2, 4, 1, 128>>(),
    weight_kernel<Math, WeightShape<Math, 1, 1, 4, 1, 2, 9, 128>, true>(),
    weight_kernel<Math, WeightShape<Math, 2, 2, 1, 1, 2, 9, 64>, true>(),
    weight_kernel<Math, WeightShape<Math, 2, 2, 1, 2, 1, 9, 64>, true>(),
    weight_kernel<Math, WeightShape<Math, 2, 4, 1, 2, 2, 1, 64>, true>(),
    weight_kernel<Math, WeightShape<Math, 1, 2, 4, 1, 1, 9, 128>, false>(),
    weight_kernel<Math, WeightShape<Math, 1, 2, 4, 1, 1, 9, 64>, false>(),
};

}  // namespace hearsay::engine::cuda
