#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv/conv_few_channels.cuh"
#include "hearsay/engine/cuda/conv/conv_weight_multiply.cuh"

namespace hearsay::engine::cuda {

/// Which of the weights a block has.
struct WeightGroup {
  int out, in, tap;
};
__device__ inline WeightGroup weight_group(const WeightLaunch& p) {
  return {static_cast<int>(blockIdx.x) / p.tap_groups / p.in_groups,
          static_cast<int>(blockIdx.x) / p.tap_groups % p.in_groups,
          static_cast<int>(blockIdx.x) % p.tap_groups};
}

/// Fragment f of a warp's sums, as it stands among the parts.
template <class Shape>
__device__ inline float4 fragment_of(const WarpSums<Shape>& sum, int f) {
  const float(&c)[4] = sum.of[f / (Shape::kRows * Shape::kColumns)]
                             [f / Shape::kColumns % Shape::kRows][f % Shape::kColumns];
  return {c[0], c[1], c[2], c[3]};
}

/// Where there is nothing to add to: the sums, put in order, to where they belong in `own`, the
/// peer's gradient.
template <class Shape>
__device__ inline void store_in_order(const WeightLaunch& p, const WeightGroup& group,
                                      const WarpSums<Shape>& sum, char* scratch, float* own) {
  const ConvGeometry& g = p.geometry;
  const int lane = threadIdx.x % 32;
  float* ordered = reinterpret_cast<float*>(scratch);  // [out][in][tap]
  __syncthreads();
#pragma unroll
  for (int f = 0; f < WarpSums<Shape>::kFragments; ++f) {
    const float4 four = fragment_of(sum, f);
    const float values[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int out = Shape::output_of(f / Shape::kColumns % Shape::kRows, lane / 4, i / 2);
      const int in = Shape::input_of(f % Shape::kColumns, lane % 4 * 2 + i % 2);
      const int tap = f / Shape::kColumns / Shape::kRows;
      ordered[((sum.out + out) * Shape::kIn + sum.in + in) * Shape::kTaps + tap] = values[i];
    }
  }
  __syncthreads();
  for (int at = threadIdx.x; at < Shape::kFloats; at += Shape::kThreads) {
    const int tap = group.tap * Shape::kTaps + at % Shape::kTaps;
    const int in = group.in * Shape::kIn + at / Shape::kTaps % Shape::kIn;
    const int out = group.out * Shape::kOut + at / Shape::kTaps / Shape::kIn;
    if (out < g.out_c && in < g.in_c && tap < g.taps) {
      own[p.weight_at + (static_cast<long>(out) * g.in_c + in) * g.taps + tap] = ordered[at];
    }
  }
}

/// The sums as a part of the gradient, at `partial`: those of warps that share weights are added in
/// their order, and fragments stay as they are.
template <class Shape>
__device__ inline void store_part(const WarpSums<Shape>& sum, char* scratch, float4* partial) {
  constexpr int kFragments = WarpSums<Shape>::kFragments, kFours = Shape::kFloats / 4;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int place = warp / Shape::kWarpsK * kFragments * 32 + lane;
  if constexpr (Shape::kWarpsK == 1) {
#pragma unroll
    for (int f = 0; f < kFragments; ++f) partial[place + f * 32] = fragment_of(sum, f);
  } else {
    float4* total = reinterpret_cast<float4*>(scratch);
    __syncthreads();
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      total[warp_of_pixels<Shape>() * kFours + place + f * 32] = fragment_of(sum, f);
    }
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
}

/// How the products of a tile are formed.
enum class Products { kPieces, kStrips, kHalfStrips, kColumns };

/// Pairs of rows in a strip; 0: there are none.
template <class Shape>
constexpr int strip_pieces(Products products) {
  return products == Products::kStrips       ? Shape::kStripPieces
         : products == Products::kHalfStrips ? Shape::kStripPieces / 2
                                             : 0;
}

/// Sums over the tiles of a split, which `tiles` brings some at a time: those that are multiplied,
/// and those on their way. `place_of` has room for the places of the pixels in a patch, `scratch`
/// for the sums of all warps; it may be where the tiles were.
template <class Math, class Shape, Products kProducts, class Tiles>
__device__ void correlate_tiles(const WeightLaunch& p, const Tiles& tiles, int* place_of,
                                char* scratch) {
  const ConvGeometry& g = p.geometry;
  const int peer = blockIdx.z, split = blockIdx.y;
  const WeightGroup group = weight_group(p);
  const int first_out = group.out * Shape::kOut;
  const int first_tap = group.tap * Shape::kTaps;
  const int per_split = (g.tiles + p.splits - 1) / p.splits;
  const int begin = split * per_split, count = min(per_split, g.tiles - begin);
  constexpr int kAhead = Tiles::kStages - 1;
  for (int k = 0; k < min(kAhead, count); ++k) tiles.ask(k, begin + k);

  constexpr int kStripPieces = strip_pieces<Shape>(kProducts);
  if constexpr (kStripPieces == 0) {
    for (int pixel = threadIdx.x; pixel < Shape::kPixels; pixel += Shape::kThreads) {
      place_of[pixel] = tiles.place(pixel_place(g, pixel));
    }
  }
  using Offsets =
      std::conditional_t<kProducts == Products::kColumns, LaneColumns<Shape>, TapOffsets<Shape>>;
  const Offsets offsets(tiles, first_tap);

  const int warp = threadIdx.x / 32;
  WarpSums<Shape> sum{.out = warp / Shape::kWarpsK % Shape::kWarpsOut * Shape::kRows * 16,
                      .in = warp / Shape::kWarpsK / Shape::kWarpsOut * Shape::kColumns * 8};
  float bias_sum = 0;
  const bool sums_bias = kProducts != Products::kColumns && p.bias != nullptr && group.in == 0 &&
                         group.tap == 0;  // among columns, one of ones does
  for (int k = 0; k < count; ++k) {
    tiles.wait(k);
    __syncthreads();
    if (k + kAhead < count) tiles.ask(k + kAhead, begin + k + kAhead);
    const char* slopes = tiles.slopes(k);
    const char* patch = tiles.patch(k);
    if (sums_bias) bias_sum += sum_of_slopes<Math, Shape>(tiles, slopes);
    if constexpr (kStripPieces > 0) {
      multiply_strips<Math, Shape, kStripPieces>(tiles, g, slopes, patch, sum);
    } else if constexpr (kProducts == Products::kColumns) {
      multiply_columns<Math, Shape>(tiles, slopes, patch, place_of, offsets, sum);
    } else {
      multiply_pieces<Math, Shape>(tiles, slopes, patch, place_of, offsets.tap, sum);
    }
  }
  if (sums_bias) {  // one total a channel, from here on
    float* parts = reinterpret_cast<float*>(scratch);
    __syncthreads();
    parts[threadIdx.x] = bias_sum;
    __syncthreads();
    for (int at = threadIdx.x + Shape::kOut; at < Shape::kThreads; at += Shape::kOut) {
      bias_sum += parts[at];
    }
  }

  float4* partial = reinterpret_cast<float4*>(p.partial) +
                    ((static_cast<long>(peer) * p.splits + split) * gridDim.x + blockIdx.x) *
                        (Shape::kFloats / 4);
  if constexpr (Shape::kWarpsK == 1) {
    if (p.splits == 1) {
      float* own = p.gradient[peer];
      store_in_order<Shape>(p, group, sum, scratch, own);
      if (sums_bias && threadIdx.x < Shape::kOut && first_out + threadIdx.x < g.out_c) {
        own[p.bias_at + first_out + threadIdx.x] = bias_sum;
      }
      return;
    }
  }
  store_part<Shape>(sum, scratch, partial);
  if (sums_bias && threadIdx.x < Shape::kOut && first_out + threadIdx.x < g.out_c) {
    p.bias[(static_cast<long>(peer) * p.splits + split) * g.out_c + first_out + threadIdx.x] =
        bias_sum;
  }
}

/// The gradient with respect to the weights, in parts: block ((output group, input group, tap
/// group), split, peer) sums over the tiles of its split.
template <class Math, class Shape, bool kWhole>
__global__ void __launch_bounds__(Shape::kThreads)
    correlate(const __grid_constant__ WeightLaunch p) {
  backend::cuda::begin_launch();
  using Entry = typename Math::Entry;
  extern __shared__ __align__(1024) char shared[];  // as kernels of one file must agree
  const ConvGeometry& g = p.geometry;
  const int peer = blockIdx.z;
  const WeightGroup group = weight_group(p);
  const WindowTiles<Math, Shape, kWhole> tiles{
      .p = p,
      .x = {static_cast<const Entry*>(p.x) + peer * p.x_stride, g.in_h, g.in_w, g.in_c},
      .slope = {static_cast<const Entry*>(p.slope) + peer * p.y_stride, g.out_h, g.out_w, g.out_c},
      .first_out = group.out * Shape::kOut,
      .first_in = group.in * Shape::kIn,
      .stages = shared + Shape::kPixels * 4};
  correlate_tiles<Math, Shape, Products::kPieces>(p, tiles, reinterpret_cast<int*>(shared), shared);
}

/// The same with tiles that the hardware brings, for channels in whole sixteens (those of the input
/// only if they are no columns) and tiles that do not reach from one peer to the next.
template <class Math, class Shape, Products kProducts>
__global__ void __launch_bounds__(Shape::kThreads,
                                  kProducts == Products::kColumns && Shape::kOut == 16 ? 4 : 2)
    correlate_bulk(const __grid_constant__ CUtensorMap slope_map,
                   const __grid_constant__ CUtensorMap x_map,
                   const __grid_constant__ WeightLaunch p) {
  extern __shared__ __align__(1024) char shared[];
  const WeightGroup group = weight_group(p);
  using Tiles = std::conditional_t<kProducts == Products::kColumns, ColumnTiles<Math, Shape>,
                                   BulkTiles<Math, Shape>>;
  Tiles tiles{{.p = p,
               .slope_map = &slope_map,
               .x_map = &x_map,
               .first_out = group.out * Shape::kOut,
               .first_in = group.in * Shape::kIn,
               .stages = shared,
               .barriers = nullptr}};
  // Behind what the sums of all warps overwrite in the end.
  char* const others =
      shared + max(Tiles::kStages * tiles.stage_bytes(), Shape::kWarpsK * Shape::kFloats * 4);
  tiles.barriers = reinterpret_cast<Barrier*>(others + Shape::kPixels * 4);
  if (threadIdx.x < Tiles::kStages) make_barrier(tiles.barrier(threadIdx.x));
  __syncthreads();
  backend::cuda::begin_launch();
  NV_IF_TARGET(NV_PROVIDES_SM_90, (correlate_tiles<Math, Shape, kProducts>(
                                       p, tiles, reinterpret_cast<int*>(others), shared);))
}

}  // namespace hearsay::engine::cuda
