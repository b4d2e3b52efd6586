#pragma once

#include "hearsay/engine/cuda/conv_bulk.cuh"
#include "hearsay/engine/cuda/conv_patch.cuh"
#include "hearsay/engine/cuda/conv_weights.cuh"

namespace hearsay::engine::cuda {

template <class Shape>
constexpr ConvKernel describe() {
  return {.threads = Shape::kThreads,
          .pixels = Shape::kPixels,
          .out = Shape::kOut,
          .bytes = Shape::kBytes,
          .pitch = Shape::kPitch,
          .stages = Shape::kStages,
          .partial = Shape::kPartial,
          .whole = true};
}

template <class Math, class Shape, bool kWhole>
constexpr ConvKernel conv_kernel() {
  ConvKernel kernel = describe<Shape>();
  kernel.launch = convolve<Math, Shape, 0, kWhole>;
  kernel.launch_3x3 = convolve < Math, Shape, kWhole ? 3 : 0, kWhole > ;
  kernel.whole = kWhole;
  return kernel;
}

template <class Math, class Shape>
constexpr ConvKernel bulk_kernel() {
  ConvKernel kernel = describe<Shape>();
  kernel.bulk_3x3 = convolve_bulk<Math, Shape>;
  return kernel;
}

template <class Math, class Shape, bool kWhole>
constexpr WeightKernel weight_kernel() {
  return {.launch = correlate<Math, Shape, kWhole>,
          .add = add_weight_parts<Shape>,
          .add_many = add_many_parts<Shape>,
          .threads = Shape::kThreads,
          .pixels = Shape::kPixels,
          .out = Shape::kOut,
          .in = Shape::kIn,
          .taps = Shape::kTaps,
          .shares = Shape::kWarpsOut * Shape::kWarpsIn,
          .out_pitch = Shape::kOutPitch,
          .in_pitch = Shape::kInPitch,
          .sum_bytes = Shape::kWarpsK == 1 ? 0 : Shape::kWarpsK * Shape::kFloats * 4,
          .whole = kWhole};
}

/// In the order of choice: conv2d.cu takes the first that fits, most demanding ones first.
template <class Math>
inline constexpr ConvKernel kConvKernels[] = {
    // warps by pixels, by channels; fragments of 16 pixels, of 8 channels; bytes; stages
    bulk_kernel<Math, ConvShape<8, 1, 2, 2, 32, 2>>(),
    bulk_kernel<Math, ConvShape<8, 1, 2, 2, 64, 2>>(),
    bulk_kernel<Math, ConvShape<4, 2, 2, 2, 64, 2>>(),
    bulk_kernel<Math, ConvShape<4, 2, 2, 2, 128, 2>>(),
    bulk_kernel<Math, ConvShape<4, 2, 1, 4, 128, 2>>(),
    bulk_kernel<Math, ConvShape<4, 2, 2, 4, 64, 3>>(),
    bulk_kernel<Math, ConvShape<4, 2, 1, 2, 64, 4>>(),
    conv_kernel<Math, ConvShape<4, 1, 4, 2, 32, 1>, true>(),
    conv_kernel<Math, ConvShape<4, 1, 4, 2, 64, 1>, true>(),
    conv_kernel<Math, ConvShape<4, 1, 2, 4, 64, 2>, true>(),
    conv_kernel<Math, ConvShape<4, 2, 2, 4, 64, 1>, true>(),
    conv_kernel<Math, ConvShape<4, 1, 4, 2, 32, 1>, false>(),
    conv_kernel<Math, ConvShape<4, 1, 1, 4, 32, 1>, false>(),
};

template <class Math>
inline constexpr WeightKernel kWeightKernels[] = {
    // warps by output channels, by input channels, by pixels; fragments of 16 and 8; taps; pixels
    weight_kernel<Math, WeightShape<Math, 1, 1, 8, 1, 2, 9, 128>, true>(),
    weight_kernel<Math, WeightShape<Math, 2, 2, 2, 1, 2, 9, 128>, true>(),
    weight_kernel<Math, WeightShape<Math, 2, 4, 1, 2, 1, 9, 128>, true>(),
    weight_kernel<Math, WeightShape<Math, 2, 4, 1, 2, 1, 9, 64>, true>(),
    weight_kernel<Math, WeightShape<Math, 2, 4, 1, 2, 2, 1, 64>, true>(),
    weight_kernel<Math, WeightShape<Math, 1, 2, 4, 1, 1, 9, 128>, false>(),
    weight_kernel<Math, WeightShape<Math, 1, 2, 4, 1, 1, 9, 64>, false>(),
};

}  // namespace hearsay::engine::cuda
