#pragma once

#include <cstddef>

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/backend/cuda/memory.h"
#include "hearsay/engine/cuda/extent.h"
#include "hearsay/engine/cuda/numbers.h"
#include "hearsay/engine/cuda/step.h"

/// What norms over one sample share: a block of 512 threads has a sample, and sums within it in a
/// fixed order.
namespace hearsay::engine::cuda {

constexpr unsigned kSampleThreads = 512;

/// One sample's entries, row by row of channels.
struct Sample {
  unsigned channels, pixels;

  /// Calls body(place, pixel, of_channel) for every entry, spread over the block's threads, where
  /// of_channel = prepare(channel). A thread has the same channels at all its pixels, so what
  /// depends on the channel is computed once; neighbouring threads have neighbouring channels.
  template <class Prepare, class Body>
  __device__ void for_each(const Prepare& prepare, const Body& body) const {
    const unsigned lanes = min(channels, kSampleThreads), rows = kSampleThreads / lanes;
    const unsigned lane = threadIdx.x % lanes, row = threadIdx.x / lanes;
    if (row >= rows) return;
    for (unsigned c = lane; c < channels; c += lanes) {
      const auto of_channel = prepare(c);
#pragma unroll 4
      for (unsigned p = row; p < pixels; p += rows) body(p * channels + c, p, of_channel);
    }
  }
};

/// totals[n * channels + c] = the sum over the pixels of channel c of the n-th of N terms;
/// terms(place, channel, sums) adds them to sums. For all threads of a block; `totals` is shared
/// memory and valid after the call. Threads are min(channels, 512) lanes x rows of pixels: a thread
/// sums every rows-th pixel of its channel ascending, in float, then a tree over rows in shared
/// memory (N x 512 floats, 2,048 N bytes). More than 512 channels: 512 at a time.
template <int N, class Terms>
__device__ void sum_channels(const Sample& sample, const Terms& terms, float* totals) {
  __shared__ float shared[N][kSampleThreads];
  const unsigned lanes = min(sample.channels, kSampleThreads), rows = kSampleThreads / lanes;
  const unsigned lane = threadIdx.x % lanes, row = threadIdx.x / lanes;
  for (unsigned base = 0; base < sample.channels; base += lanes) {
    const unsigned channel = base + lane;
    float sums[N] = {};
    if (row < rows && channel < sample.channels) {
      for (unsigned p = row; p < sample.pixels; p += rows) {
        terms(p * sample.channels + channel, channel, sums);
      }
    }
#pragma unroll
    for (int n = 0; n < N; ++n) shared[n][threadIdx.x] = sums[n];
    __syncthreads();
    for (unsigned left = rows; left > 1;) {
      const unsigned half = (left + 1) / 2;
      if (row < left - half) {
#pragma unroll
        for (int n = 0; n < N; ++n) {
          shared[n][threadIdx.x] += shared[n][threadIdx.x + half * lanes];
        }
      }
      __syncthreads();
      left = half;
    }
    if (row == 0 && channel < sample.channels) {
#pragma unroll
      for (int n = 0; n < N; ++n) totals[n * sample.channels + channel] = shared[n][threadIdx.x];
    }
    __syncthreads();
  }
}

/// Mean and biased variance of each of `groups` groups of channels, by two passes over the sample
/// (squares are about the mean); channels of a group are added in double, ascending. finish(group,
/// mean, variance) is called by one thread per group, and has happened for all on return. `totals`
/// is shared memory for a float per channel, `means` for a float per group.
template <class T, class Finish>
__device__ void group_moments(const Sample& sample, unsigned groups, const T* x, float* totals,
                              float* means, const Finish& finish) {
  const unsigned members = sample.channels / groups;
  const double count = static_cast<double>(members) * sample.pixels;
  const auto sum_group = [&](unsigned group) {
    double sum = 0;
    for (unsigned k = 0; k < members; ++k) sum += static_cast<double>(totals[group * members + k]);
    return sum / count;
  };
  sum_channels<1>(
      sample, [&](unsigned at, unsigned, float(&sums)[1]) { sums[0] += to_float(x[at]); }, totals);
  for (unsigned g = threadIdx.x; g < groups; g += kSampleThreads) {
    means[g] = static_cast<float>(sum_group(g));
  }
  __syncthreads();
  sum_channels<1>(
      sample,
      [&](unsigned at, unsigned channel, float(&sums)[1]) {
        const float apart = to_float(x[at]) - means[channel / members];
        sums[0] = fmaf(apart, apart, sums[0]);
      },
      totals);
  for (unsigned g = threadIdx.x; g < groups; g += kSampleThreads) {
    finish(g, means[g], sum_group(g));
  }
  __syncthreads();
}

/// Offsets of N parameters in a peer's gradient.
template <int N>
struct Offsets {
  std::size_t at[N];
};
/// gradient[peer][offsets[n] + c] = the sum over the peer's samples, ascending, in double, of
/// part[sample][n][c]. Grid (ceil(N channels / 128), peers), 128 threads, one (n, c) per thread,
/// neighbours reading neighbours. No shared memory. Bound by latency: few threads, `batch`
/// dependent additions each; not measured.
template <int N>
__global__ void sum_samples(const float* parts, unsigned batch, unsigned channels,
                            Offsets<N> offsets, float* const* gradient) {
  backend::cuda::begin_launch();
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, peer = blockIdx.y;
  if (at >= N * channels) return;
  double sum = 0;
  for (unsigned b = 0; b < batch; ++b) {
    const std::size_t sample = std::size_t{peer} * batch + b;
    sum += static_cast<double>(parts[sample * N * channels + at]);
  }
  gradient[peer][offsets.at[at / channels] + at % channels] = static_cast<float>(sum);
}

}  // namespace hearsay::engine::cuda
