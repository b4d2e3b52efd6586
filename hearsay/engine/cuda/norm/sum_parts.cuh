#pragma once

#include <cstddef>

namespace hearsay::engine::cuda {

/// Adds up pairs that are there in parts, [part][channel] from `parts` on, for channels first ..
/// first + width - 1: calls finish(channel, sum), in doubles, of value(part) over the `count`
/// parts; value(0, 0) is (0, 0). For all kThreads of a block; `scratch` is shared memory, one entry
/// (16 bytes) per thread. Channel first + c is finished by thread c mod kThreads.
///
/// Warps form columns of 32 channels and rows of parts; with fewer than 32 channels a warp splits
/// into groups, each with other parts. A lane loads 8 parts (kAtOnce) before it adds the first,
/// past L1, since other blocks of the same launch may have written them; groups are added by
/// shuffles, rows in shared memory, ascending. So the order of a sum depends on the sizes alone,
/// and there is one barrier before `finish`: this takes little more than the latency of a read.
template <unsigned kThreads, class Value, class Finish>
__device__ void sum_parts(const float2* parts, unsigned count, unsigned channels, unsigned first,
                          unsigned width, double2* scratch, const Value& value,
                          const Finish& finish) {
  constexpr unsigned kWarps = kThreads / 32, kAtOnce = 8;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned base = 0; base < width; base += kThreads) {
    // A warp has up to 32 neighbouring channels; `groups` times, for different parts, if there are
    // fewer. Warps stand in `columns` of channels and `rows` of parts.
    const unsigned here = min(width - base, kThreads);
    const unsigned lanes = min(here, 32u), groups = 32 / lanes, group = lane / lanes;
    const unsigned columns = (here + 31) / 32, rows = kWarps / columns, row = warp / columns;
    const unsigned own = warp % columns * 32 + lane % lanes;
    const bool there = row < rows && group < groups && own < here;
    double2 sum = make_double2(0, 0);
    if (there) {
      const float2* from = parts + first + base + own;
      const unsigned step = rows * groups;
      for (unsigned k = row * groups + group; k < count; k += kAtOnce * step) {
        float2 part[kAtOnce];  // all loads are issued before the first is needed
#pragma unroll
        for (unsigned j = 0; j < kAtOnce; ++j) {
          const unsigned at = k + j * step;
          part[j] = at < count ? __ldcg(from + at * channels) : make_float2(0, 0);
        }
#pragma unroll
        for (unsigned j = 0; j < kAtOnce; ++j) {
          const double2 more = value(part[j]);
          sum.x += more.x;
          sum.y += more.y;
        }
      }
    }
    for (unsigned left = groups; left > 1;) {
      const unsigned half = (left + 1) / 2;
      const double x = __shfl_down_sync(0xffffffffu, sum.x, half * lanes);
      const double y = __shfl_down_sync(0xffffffffu, sum.y, half * lanes);
      if (group < left - half) {
        sum.x += x;
        sum.y += y;
      }
      left = half;
    }
    if (there && group == 0) scratch[row * here + own] = sum;
    __syncthreads();
    if (threadIdx.x < here) {
      double2 all = scratch[threadIdx.x];
#pragma unroll 4
      for (unsigned k = 1; k < rows; ++k) {
        all.x += scratch[k * here + threadIdx.x].x;
        all.y += scratch[k * here + threadIdx.x].y;
      }
      finish(first + base + threadIdx.x, all);
    }
    __syncthreads();
  }
}

/// The pair itself, for sums that are no more than that.
struct PlainPair {
  __device__ double2 operator()(float2 part) const {
    return make_double2(static_cast<double>(part.x), static_cast<double>(part.y));
  }
};

}  // namespace hearsay::engine::cuda
