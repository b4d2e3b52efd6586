#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv/weight_gradient/conv_few_channels.cuh"
#include "hearsay/engine/cuda/conv/weight_gradient/conv_weight_multiply.cuh"

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

/// Fragment f of a warp's accumulators: the 4 floats of this lane.
template <class Shape>
__device__ inline float4 fragment_of(const WarpSums<Shape>& sum, int f) {
  const float(&c)[4] = sum.of[f / (Shape::kRows * Shape::kColumns)]
                             [f / Shape::kColumns % Shape::kRows][f % Shape::kColumns];
  return {c[0], c[1], c[2], c[3]};
}

/// With one split and kWarpsK == 1 the accumulators are the gradient: they are put in the order
/// [out][in][tap] in shared memory (4 kFloats bytes, over the tiles) and stored from there to
/// `own`, the peer's gradient, contiguously. No second launch is needed.
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

/// Stores the block's partial sums at `partial`, fragment by fragment as they are in registers, 16
/// bytes per lane. Those of the kWarpsK warps that share weights are first added in shared memory
/// (4 kWarpsK kFloats bytes, over the tiles), warps ascending.
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

/// The body of both weight gradient kernels: sums over the tiles of a split, ceil(tiles / splits)
/// consecutive ones, ascending. `tiles` (WindowTiles, TmaTiles, ColumnTiles) keeps kStages - 1
/// tiles on their way while one is multiplied: per tile one wait, one __syncthreads (no warp reads
/// the stage that is refilled), the next copies, the products. `place_of`: kPixels ints in shared
/// memory. `scratch`: 4 kWarpsK kFloats bytes for the sums of all warps at the end, and one float
/// per thread for the bias; it may be where the tiles were. Blocks with input group 0 and tap group
/// 0 also sum grad_output for the bias (with columns, a column of ones does).
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
  // Prologue: the copies of all stages but one are issued.
  constexpr int kAhead = Tiles::kStages - 1;
  for (int k = 0; k < min(kAhead, count); ++k) tiles.ask(k, begin + k);

  // Where tap (0, 0) of each pixel reads is the same for all tiles; strips compute it from rows.
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
                         group.tap == 0;  // with columns, one of ones does
  for (int k = 0; k < count; ++k) {
    tiles.wait(k);
    __syncthreads();
    if (k + kAhead < count) tiles.ask(k + kAhead, begin + k + kAhead);
    const char* grad_output = tiles.grad_tile(k);
    const char* patch = tiles.patch(k);
    if (sums_bias) bias_sum += sum_of_grad_output<Math, Shape>(tiles, grad_output);
    if constexpr (kStripPieces > 0) {
      multiply_strips<Math, Shape, kStripPieces>(tiles, g, grad_output, patch, sum);
    } else if constexpr (kProducts == Products::kColumns) {
      multiply_columns<Math, Shape>(tiles, grad_output, patch, place_of, offsets, sum);
    } else {
      multiply_pieces<Math, Shape>(tiles, grad_output, patch, place_of, offsets.tap, sum);
    }
  }
  if (sums_bias) {  // one total per channel, in threads below kOut, from here on
    float* parts = reinterpret_cast<float*>(scratch);
    __syncthreads();
    parts[threadIdx.x] = bias_sum;
    __syncthreads();
    for (int at = threadIdx.x + Shape::kOut; at < Shape::kThreads; at += Shape::kOut) {
      bias_sum += parts[at];
    }
  }

  // The sums leave the registers: directly to the gradient, or as this split's part.
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

/// dw(o, i, tap) = sum over pixels of g(pixel, o) x(pixel stride + tap - pad, i), in partial sums
/// per split: for any kernel and stride, on cards before sm_90 or where TMA cannot copy the
/// channels. Grid ((output group, input group, tap group), splits, peers), tap group fastest;
/// Shape::kThreads. A block has kOut x kIn channels and kTaps taps, and goes over the tiles of its
/// split, kPixels each.
///
/// Shared memory: 4 kPixels bytes of places, then two stages of kPixels kOutPitch + positions
/// kInPitch bytes; at the end the sums of all warps, 4 kWarpsK kFloats bytes, over both. Registers:
/// 4 kTaps kRows kColumns accumulators per thread. Copies are cp.async, one tile ahead.
///
/// Sums: tiles of a split ascending, warps ascending, then splits ascending (add_weight_parts). The
/// number of splits is chosen for kUsualPeers, so the order does not depend on the number of peers.
/// Not measured by itself; correlate_tma runs on sm_90 where channels allow.
template <class Math, class Shape, bool kWhole>
__global__ void __launch_bounds__(Shape::kThreads)
    correlate(const __grid_constant__ WeightLaunch p) {
  backend::cuda::begin_launch();
  using Entry = typename Math::Entry;
  extern __shared__ __align__(1024) char shared[];  // kernels of one file must agree
  const ConvGeometry& g = p.geometry;
  const int peer = blockIdx.z;
  const WeightGroup group = weight_group(p);
  const WindowTiles<Math, Shape, kWhole> tiles{
      .p = p,
      .x = {static_cast<const Entry*>(p.x) + peer * p.x_stride, g.in_h, g.in_w, g.in_c},
      .grad_output = {static_cast<const Entry*>(p.grad_output) + peer * p.y_stride, g.out_h,
                      g.out_w, g.out_c},
      .first_out = group.out * Shape::kOut,
      .first_in = group.in * Shape::kIn,
      .stages = shared + Shape::kPixels * 4};
  correlate_tiles<Math, Shape, Products::kPieces>(p, tiles, reinterpret_cast<int*>(shared), shared);
}

/// The same with tiles that TMA brings, for channels in whole sixteens (of the input only if they
/// are no columns) and tiles that do not reach from one peer's images to the next.
///
/// Grid, sums and accumulators as `correlate`. kProducts says how a tile is multiplied: kPieces
/// (any geometry), kStrips and kHalfStrips (3 x 3, stride 1; pairs of rows in registers), kColumns
/// (few input channels). Shared memory: kStages stages (2; columns 3 or 4), at least 4 kWarpsK
/// kFloats bytes, since the warps' sums go over them in the end; then 4 kPixels of places and 8
/// kStages of mbarriers. Example, 16 x 16 channels of tf32 with tiles of 8 x 16: stages of
/// 2 (8,192 + 12,288) = 40,960, more than the sums' 36,864; with places and barriers 41,488 bytes.
/// Launch bounds: 2 blocks per multiprocessor, 4 for columns of 16 output channels.
///
/// Pipeline: thread 0 issues the TMA copies kStages - 1 tiles ahead. Runs on a side stream beside
/// the rest of backward. Bound by shared memory reads and registers, not by products: with 162
/// registers per thread the kernels took 1.3 to 1.6 times as long (docs/performance.md).
template <class Math, class Shape, Products kProducts>
__global__ void __launch_bounds__(Shape::kThreads,
                                  kProducts == Products::kColumns && Shape::kOut == 16 ? 4 : 2)
    correlate_tma(const __grid_constant__ CUtensorMap grad_output_map,
                  const __grid_constant__ CUtensorMap x_map,
                  const __grid_constant__ WeightLaunch p) {
  extern __shared__ __align__(1024) char shared[];
  const WeightGroup group = weight_group(p);
  using Tiles = std::conditional_t<kProducts == Products::kColumns, ColumnTiles<Math, Shape>,
                                   TmaTiles<Math, Shape>>;
  Tiles tiles{{.p = p,
               .grad_output_map = &grad_output_map,
               .x_map = &x_map,
               .first_out = group.out * Shape::kOut,
               .first_in = group.in * Shape::kIn,
               .stages = shared,
               .barriers = nullptr}};
  // Behind what the sums of all warps overwrite at the end.
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
