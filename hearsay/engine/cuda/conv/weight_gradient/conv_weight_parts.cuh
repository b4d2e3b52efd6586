#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv/weight_gradient/conv_weight_shape.cuh"

/// Adds up the partial sums of a weight gradient that `correlate` leaves, one per split:
/// [peer][split][group][warp][fragment][lane][4], i.e. accumulators as they were in registers.
namespace hearsay::engine::cuda {

/// db(out) = the sum over splits, ascending, of p.bias[peer][split][out]; for all threads of a
/// block.
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

/// Stores one total at its place [out][in][tap] of the peer's gradient; padding is dropped. With
/// columns, the column behind the last one is the bias gradient.
__device__ inline void store_weight(const WeightLaunch& p, float* gradient, int out, int in,
                                    int tap, float value) {
  const ConvGeometry& g = p.geometry;
  if (out >= g.out_c || tap >= g.taps) return;
  if (in < g.in_c) {
    gradient[p.weight_at + (static_cast<long>(out) * g.in_c + in) * g.taps + tap] = value;
  } else if (p.sums_ones && in == g.in_c) {
    gradient[p.bias_at + out] = value;
  }
}

/// dw = the sum over splits, ascending, of the partial sums, stored in the order of the parameters;
/// for up to 4 splits (kManySplits in conv2d.cu). Grid (warps' shares of a group, groups, peers),
/// 256 threads. A block has a warp's share, 16 kRows x 8 kColumns x kTaps weights: a thread adds up
/// every 256th, reading neighbouring floats with its neighbours, and puts them in the order
/// [out][in][tap] in shared memory (4 bytes each: 2,048 to 9,216 by shape), so that stores are
/// contiguous too. Bound by reads of the partial sums, mostly L2, and launch latency: with the
/// products 263 us for 38 launches of ResNet-20 at 4 peers (docs/performance.md); not measured by
/// itself.
template <class Shape>
__global__ void __launch_bounds__(kAddThreads) add_weight_parts(WeightLaunch p) {
  backend::cuda::begin_launch();
  constexpr int kOut = 16 * Shape::kRows, kIn = 8 * Shape::kColumns;  // of a warp's share
  constexpr int kFloats = kOut * kIn * Shape::kTaps;
  __shared__ float share[kFloats];
  const int peer = blockIdx.z, groups = gridDim.y, warps = gridDim.x, warp = blockIdx.x;
  const int first_tap = blockIdx.y % p.tap_groups * Shape::kTaps;
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
  for (int at = threadIdx.x; at < kFloats; at += kAddThreads) {
    store_weight(p, p.gradient[peer], first_out + at / Shape::kTaps / kIn,
                 first_in + at / Shape::kTaps % kIn, first_tap + at % Shape::kTaps, share[at]);
  }
  if (p.bias != nullptr && blockIdx.x == 0 && blockIdx.y == 0) {
    add_bias_parts(p, peer, p.gradient[peer] + p.bias_at);
  }
}

/// The same where there are many splits and few weights. Grid (fragments of a group: kFloats / 128,
/// groups, peers), 256 threads. Warp w adds up splits w, w + 8, ..., ascending, a lane the 4
/// accumulators of its place as one float4, four loads unrolled; the 8 warps' sums meet in shared
/// memory (8 x 32 x 16 = 4,096 bytes) and are added in the order of warps by 128 threads, one
/// weight each. The order depends on the number of splits only. Bound by latency; not measured by
/// itself.
template <class Shape>
__global__ void __launch_bounds__(kAddThreads) add_many_parts(WeightLaunch p) {
  backend::cuda::begin_launch();
  constexpr int kWarps = kAddThreads / 32;
  __shared__ float4 found[kWarps][32];
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
  float* own = p.gradient[peer];
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
    store_weight(p, own, out, in, tap, total);
  }
  if (p.bias != nullptr && blockIdx.x == 0 && blockIdx.y == 0) {
    add_bias_parts(p, peer, own + p.bias_at);
  }
}

}  // namespace hearsay::engine::cuda
