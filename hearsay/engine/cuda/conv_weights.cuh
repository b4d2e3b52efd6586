#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv_kernels.h"
#include "hearsay/engine/cuda/conv_tile.cuh"

namespace hearsay::engine::cuda {

/// How a block of `correlate` divides its part of the weights, kOut x kIn x kTaps, among its warps:
/// each has kRows fragments of 16 output channels, kColumns of 8 input channels, all taps, and one
/// in kWarpsK of the pixels.
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

  /// Floats of neighbouring channels are read two at a time: the two go to rows g and g + 8 of one
  /// fragment of output channels, or to the same column of two fragments of input channels.
  static constexpr int kTogether = sizeof(Entry) == 4 && kColumns % 2 == 0 ? 2 : 1;
  static constexpr int output_of(int fragment, int g, int second) {
    return fragment * 16 + (sizeof(Entry) == 4 ? 2 * g + second : g + 8 * second);
  }
  static constexpr int input_of(int fragment, int column) {
    return kTogether == 2 ? fragment / 2 * 16 + column * 2 + fragment % 2 : fragment * 8 + column;
  }
};

__device__ inline void add_bias_parts(const WeightLaunch& p, int peer, float* gradient) {
  const int channels = p.geometry.out_c;
  for (int out = threadIdx.x; out < channels; out += kAddThreads) {
    float total = 0;
    for (int split = 0; split < p.splits; ++split) {
      total += p.bias[(static_cast<long>(peer) * p.splits + split) * channels + out];
    }
    gradient[out] = total;
  }
}

/// The gradient: the parts of all splits added up in their order, to where the parameters of each
/// peer stand. Block (warp's share of a group, group, peer): it puts its fragments in order in
/// shared memory, so that what goes out lies side by side. `bias_at` < 0: there is none.
template <class Shape>
__global__ void __launch_bounds__(kAddThreads)
    add_weight_parts(WeightLaunch p, float* const* gradient, long weight_at, long bias_at) {
  backend::cuda::begin_launch();
  constexpr int kOut = 16 * Shape::kRows, kIn = 8 * Shape::kColumns;  // of a warp's share
  constexpr int kFloats = kOut * kIn * Shape::kTaps;
  __shared__ float share[kFloats];
  const ConvGeometry& g = p.geometry;
  const int peer = blockIdx.z, groups = gridDim.y, warps = gridDim.x, warp = blockIdx.x;
  const int taps = g.taps, first_tap = blockIdx.y % p.tap_groups * Shape::kTaps;
  const int first_in =
      blockIdx.y / p.tap_groups % p.in_groups * Shape::kIn + warp / Shape::kWarpsOut * kIn;
  const int first_out =
      blockIdx.y / p.tap_groups / p.in_groups * Shape::kOut + warp % Shape::kWarpsOut * kOut;
  const long apart = static_cast<long>(groups) * warps * kFloats;  // from split to split
  const float* parts = p.partial + peer * p.splits * apart +
                       (static_cast<long>(blockIdx.y) * warps + warp) * kFloats;
  for (int at = threadIdx.x; at < kFloats; at += kAddThreads) {
    float total = 0;
    for (int split = 0; split < p.splits; ++split) total += parts[split * apart + at];
    const int i = at % 4, lane = at / 4 % 32, fragment = at / 128;
    const int in = Shape::input_of(fragment % Shape::kColumns, lane % 4 * 2 + i % 2);
    const int out = Shape::output_of(fragment / Shape::kColumns % Shape::kRows, lane / 4, i / 2);
    const int tap = fragment / Shape::kColumns / Shape::kRows;
    share[(out * kIn + in) * Shape::kTaps + tap] = total;
  }
  __syncthreads();
  float* weights = gradient[peer] + weight_at;
  for (int at = threadIdx.x; at < kFloats; at += kAddThreads) {
    const int tap = first_tap + at % Shape::kTaps;
    const int in = first_in + at / Shape::kTaps % kIn, out = first_out + at / Shape::kTaps / kIn;
    if (out < g.out_c && in < g.in_c && tap < taps) {
      weights[(static_cast<long>(out) * g.in_c + in) * taps + tap] = share[at];
    }
  }
  if (bias_at >= 0 && blockIdx.x == 0 && blockIdx.y == 0) {
    add_bias_parts(p, peer, gradient[peer] + bias_at);
  }
}

/// The same where there are many splits and few weights: block (fragment of a group, group, peer),
/// whose warps take the splits in turn; what they find is added in their order.
template <class Shape>
__global__ void __launch_bounds__(kAddThreads)
    add_many_parts(WeightLaunch p, float* const* gradient, long weight_at, long bias_at) {
  backend::cuda::begin_launch();
  constexpr int kWarps = kAddThreads / 32;
  __shared__ float4 found[kWarps][32];
  const ConvGeometry& g = p.geometry;
  const int peer = blockIdx.z, lane = threadIdx.x % 32, turn = threadIdx.x / 32;
  const long apart = static_cast<long>(gridDim.y) * gridDim.x * 32;  // from split to split
  const float4* parts = reinterpret_cast<const float4*>(p.partial) + peer * p.splits * apart +
                        (static_cast<long>(blockIdx.y) * gridDim.x + blockIdx.x) * 32 + lane;
  float4 sum{0, 0, 0, 0};
#pragma unroll 4
  for (int split = turn; split < p.splits; split += kWarps) {
    const float4 part = parts[split * apart];
    sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
  }
  found[turn][lane] = sum;
  float* own = gradient[peer];
  __syncthreads();
  if (threadIdx.x < 128) {
    const int i = threadIdx.x % 4, from = threadIdx.x / 4;
    float total = 0;
#pragma unroll
    for (int k = 0; k < kWarps; ++k) total += reinterpret_cast<const float*>(&found[k][from])[i];
    constexpr int kFragments = Shape::kTaps * Shape::kRows * Shape::kColumns;
    const int fragment = blockIdx.x % kFragments, warp = blockIdx.x / kFragments;
    const int in = blockIdx.y / p.tap_groups % p.in_groups * Shape::kIn +
                   warp / Shape::kWarpsOut * 8 * Shape::kColumns +
                   Shape::input_of(fragment % Shape::kColumns, from % 4 * 2 + i % 2);
    const int out = blockIdx.y / p.tap_groups / p.in_groups * Shape::kOut +
                    warp % Shape::kWarpsOut * 16 * Shape::kRows +
                    Shape::output_of(fragment / Shape::kColumns % Shape::kRows, from / 4, i / 2);
    const int tap =
        blockIdx.y % p.tap_groups * Shape::kTaps + fragment / Shape::kColumns / Shape::kRows;
    if (out < g.out_c && in < g.in_c && tap < g.taps) {
      own[weight_at + (static_cast<long>(out) * g.in_c + in) * g.taps + tap] = total;
    }
  }
  if (bias_at >= 0 && blockIdx.x == 0 && blockIdx.y == 0) {
    add_bias_parts(p, peer, own + bias_at);
  }
}

/// The gradient with respect to the weights, in parts: block ((output group, input group, tap
/// group), split, peer) sums over the tiles of its split. Matrix product: output channels x pixels
/// x (taps x input channels).
template <class Math, class Shape, bool kWhole>
__global__ void __launch_bounds__(Shape::kThreads) correlate(WeightLaunch p) {
  backend::cuda::begin_launch();
  using Entry = typename Math::Entry;
  extern __shared__ __align__(1024) char shared[];  // as kernels of one file must agree
  const ConvGeometry& g = p.geometry;
  const int peer = blockIdx.z, split = blockIdx.y;
  const int tap_group = blockIdx.x % p.tap_groups;
  const int in_group = blockIdx.x / p.tap_groups % p.in_groups;
  const int out_group = blockIdx.x / p.tap_groups / p.in_groups;
  const int first_out = out_group * Shape::kOut, first_in = in_group * Shape::kIn;
  const int taps = g.taps, first_tap = tap_group * Shape::kTaps;
  const Source<Entry> x{static_cast<const Entry*>(p.x) + peer * p.x_stride, g.in_h, g.in_w, g.in_c};
  const Source<Entry> slope{static_cast<const Entry*>(p.slope) + peer * p.y_stride, g.out_h,
                            g.out_w, g.out_c};

  // Two stages of (slopes, patch), after the places of the pixels in a patch.
  int* place_of = reinterpret_cast<int*>(shared);
  char* stages = shared + Shape::kPixels * 4;
  const int stage_bytes = Shape::kPixels * Shape::kOutPitch + g.patch_positions() * Shape::kInPitch;
  for (int pixel = threadIdx.x; pixel < Shape::kPixels; pixel += Shape::kThreads) {
    const PixelPlace place = pixel_place(g, pixel);
    place_of[pixel] =
        ((place.image * g.patch_h + place.y * g.stride) * g.patch_w + place.x * g.stride) *
        Shape::kInPitch;
  }
  int tap_offset[Shape::kTaps];
#pragma unroll
  for (int tap = 0; tap < Shape::kTaps; ++tap) {
    const int t = min(first_tap + tap, taps - 1);  // those beyond are computed and not stored
    tap_offset[tap] = (t / g.kernel * g.patch_w + t % g.kernel) * Shape::kInPitch;
  }

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_k = warp % Shape::kWarpsK;
  const int out0 = warp / Shape::kWarpsK % Shape::kWarpsOut * Shape::kRows * 16;
  const int in0 = warp / Shape::kWarpsK / Shape::kWarpsOut * Shape::kColumns * 8;

  float sum[Shape::kTaps][Shape::kRows][Shape::kColumns][4] = {};
  float bias_sum = 0;
  const bool sums_bias = p.bias != nullptr && in_group == 0 && tap_group == 0;
  const int per_split = (g.tiles + p.splits - 1) / p.splits;
  const int begin = split * per_split, end = min(begin + per_split, g.tiles);
  const auto ask = [&](int tile) {
    const TileOrigin origin = tile_origin(g, tile);
    char* slopes = stages + (tile - begin) % 2 * stage_bytes;
    copy_window<Math, Shape::kThreads, Shape::kOut* static_cast<int>(sizeof(Entry)), kWhole>(
        slope, pixel_window(g, origin), first_out, slopes, Shape::kOutPitch);
    copy_window<Math, Shape::kThreads, Shape::kIn* static_cast<int>(sizeof(Entry)), kWhole>(
        x, patch_window(g, origin), first_in, slopes + Shape::kPixels * Shape::kOutPitch,
        Shape::kInPitch);
    commit_copies();
  };
  if (begin < end) ask(begin);
  for (int tile = begin; tile < end; ++tile) {
    wait_for_copies();
    char* slopes = stages + (tile - begin) % 2 * stage_bytes;
    char* patch = slopes + Shape::kPixels * Shape::kOutPitch;
    if (p.normals != nullptr) {
      normalize_window<Math, Shape::kThreads, Shape::kIn* static_cast<int>(sizeof(Entry))>(
          x, patch_window(g, tile_origin(g, tile)), first_in, patch, Shape::kInPitch,
          p.normals + static_cast<long>(peer) * g.in_c, p.relu != 0);
    }
    __syncthreads();
    if (tile + 1 < end) ask(tile + 1);
    if (sums_bias && threadIdx.x < Shape::kOut) {
      for (int pixel = 0; pixel < Shape::kPixels; ++pixel) {
        bias_sum += to_float(
            reinterpret_cast<const Entry*>(slopes + pixel * Shape::kOutPitch)[threadIdx.x]);
      }
    }
    for (int piece = warp_k; piece < Shape::kPixels / Shape::kPiece; piece += Shape::kWarpsK) {
      std::uint32_t a[Shape::kRows][4];
      if constexpr (sizeof(Entry) == 4) {
        const int pixel = piece * 8 + lane % 4;
        const char* row = slopes + pixel * Shape::kOutPitch + (out0 + lane / 4 * 2) * 4;
#pragma unroll
        for (int f = 0; f < Shape::kRows; ++f) {
          const uint2 near = *reinterpret_cast<const uint2*>(row + f * 64);
          const uint2 far = *reinterpret_cast<const uint2*>(row + 4 * Shape::kOutPitch + f * 64);
          a[f][0] = near.x;
          a[f][1] = near.y;
          a[f][2] = far.x;
          a[f][3] = far.y;
        }
        constexpr int kTogether = Shape::kTogether;
        const char* near = patch + place_of[pixel] + (in0 + lane / 4 * kTogether) * 4;
        const char* far = patch + place_of[pixel + 4] + (in0 + lane / 4 * kTogether) * 4;
#pragma unroll
        for (int tap = 0; tap < Shape::kTaps; ++tap) {
#pragma unroll
          for (int n = 0; n < Shape::kColumns; n += kTogether) {
            struct alignas(4 * kTogether) Words {
              std::uint32_t of[kTogether];
            };
            const auto b0 = *reinterpret_cast<const Words*>(near + tap_offset[tap] + n * 32);
            const auto b1 = *reinterpret_cast<const Words*>(far + tap_offset[tap] + n * 32);
#pragma unroll
            for (int t = 0; t < kTogether; ++t) {
              const std::uint32_t k0 = b0.of[t], k1 = b1.of[t];
#pragma unroll
              for (int f = 0; f < Shape::kRows; ++f) {
                Math::multiply(sum[tap][f][n + t], a[f], k0, k1);
              }
            }
          }
        }
      } else {
        const int row = piece * 16 + lane / 16 * 8 + lane % 8;
#pragma unroll
        for (int f = 0; f < Shape::kRows; ++f) {
          load_matrices_transposed(a[f], shared_address(slopes + row * Shape::kOutPitch) +
                                             (out0 + f * 16 + lane / 8 % 2 * 8) * 2);
        }
        const std::uint32_t at = shared_address(patch + place_of[piece * 16 + lane % 16]) + in0 * 2;
#pragma unroll
        for (int tap = 0; tap < Shape::kTaps; ++tap) {
#pragma unroll
          for (int n = 0; n < Shape::kColumns; ++n) {
            std::uint32_t b0, b1;
            load_two_matrices_transposed(b0, b1, at + tap_offset[tap] + n * 16);
#pragma unroll
            for (int f = 0; f < Shape::kRows; ++f) Math::multiply(sum[tap][f][n], a[f], b0, b1);
          }
        }
      }
    }
  }

  // The sums of the warps that share weights, added in their order; fragments stay as they are.
  float4* total = reinterpret_cast<float4*>(shared);
  constexpr int kFragments = Shape::kTaps * Shape::kRows * Shape::kColumns;
  constexpr int kFours = kFragments * Shape::kWarpsOut * Shape::kWarpsIn * 32;
  const int place = warp / Shape::kWarpsK * kFragments * 32 + lane;
  float4* partial =
      reinterpret_cast<float4*>(p.partial) +
      ((static_cast<long>(peer) * p.splits + split) * gridDim.x + blockIdx.x) * kFours;
  const auto fragment = [&](int f) {
    const float(&c)[4] = sum[f / (Shape::kRows * Shape::kColumns)]
                            [f / Shape::kColumns % Shape::kRows][f % Shape::kColumns];
    return float4{c[0], c[1], c[2], c[3]};
  };
  if constexpr (Shape::kWarpsK == 1) {
#pragma unroll
    for (int f = 0; f < kFragments; ++f) partial[place + f * 32] = fragment(f);
  } else {
    __syncthreads();
#pragma unroll
    for (int f = 0; f < kFragments; ++f) total[warp_k * kFours + place + f * 32] = fragment(f);
    __syncthreads();
    for (int at = threadIdx.x; at < kFours; at += Shape::kThreads) {
      float4 t = total[at];
#pragma unroll
      for (int k = 1; k < Shape::kWarpsK; ++k) {
        const float4 more = total[k * kFours + at];
        t = {t.x + more.x, t.y + more.y, t.z + more.z, t.w + more.w};
      }
      partial[at] = t;
    }
  }
  if (sums_bias && threadIdx.x < Shape::kOut && first_out + threadIdx.x < g.out_c) {
    p.bias[(static_cast<long>(peer) * p.splits + split) * g.out_c + first_out + threadIdx.x] =
        bias_sum;
  }
}

}  // namespace hearsay::engine::cuda
