#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/norm/channel_sums.h"
#include "hearsay/engine/cuda/norm/normalized.cuh"
#include "hearsay/engine/cuda/norm/normals.cuh"
#include "hearsay/engine/cuda/step.h"

/// Batch norm's reductions: statistics of its input, and the sums of grad_output, where no
/// convolution has computed them in its epilogue (TileSums). They are the terms of channel_sums;
/// the elementwise passes that follow are in batch_norm_passes.cuh.
namespace hearsay::engine::cuda::batch_norm {

/// The Normals of W neighbouring channels, in 4 W registers.
template <int W>
struct Normals {
  __device__ Normals(const Normal* normals, unsigned peer, unsigned first, const ChannelGrid& grid)
      : Normals(normals + std::size_t{peer} * grid.channels + first) {}
  __device__ explicit Normals(const Normal* first) {
#pragma unroll
    for (int k = 0; k < W; ++k) of[k] = first[k];
  }
  Normal of[W];
};

/// dx = scale g + slope (x - mean) + rest.
struct alignas(8) Slope {
  float slope, rest;
};

// ---- Statistics ----

/// x - shift and its square, the shift being the peer's first value of the channel: so the sums
/// lose nothing where the mean is far from 0.
template <class T, int W>
struct MomentTerms {
  const T* x;

  struct Shift {
    float of[W];
  };
  __device__ Shift begin(unsigned peer, unsigned first, const ChannelGrid& grid) const {
    Shift shift;
    load(x + std::size_t{peer} * grid.pixels * grid.channels + first, shift.of);
    return shift;
  }
  __device__ void add(const Shift& shift, std::size_t at, float (&p)[W], float (&q)[W]) const {
    float v[W];
    load(x + at, v);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const float apart = v[k] - shift.of[k];
      p[k] += apart;
      q[k] = fmaf(apart, apart, q[k]);
    }
  }
};

/// From the sums of x - shift and of its square over `count` values, in double: the channel's
/// Normal, with mean = shift + sum / count; the running statistics are updated.
__device__ inline void finish_moments(const NormModel& model, unsigned peer, unsigned channel,
                                      double count, double shift, double sum, double square,
                                      Normal* normals) {
  const double apart = sum / count;
  const double variance = fmax(square / count - apart * apart, 0.0);
  const double mean = shift + apart;
  *normals = normal_of(affine_of(model, peer, channel), mean, variance);
  follow_moments(model, peer, channel, count, mean, variance);
}

template <class T>
struct MomentFinish {
  const T* x;
  NormModel model;
  Normal* normals;

  __device__ void operator()(unsigned peer, unsigned channel, const ChannelGrid& grid, double sum,
                             double square) const {
    const float shift = to_float(x[std::size_t{peer} * grid.pixels * grid.channels + channel]);
    finish_moments(model, peer, channel, grid.pixels, static_cast<double>(shift), sum, square,
                   normals + std::size_t{peer} * grid.channels + channel);
  }
};

/// Evaluation: normals[peer][channel] from the running statistics and the affine parameters, so
/// that `normalize` need not know the difference. Grid (ceil(channels / 128), peers), 128 threads,
/// one channel per thread; no shared memory, no sums. Bound by launch latency; not measured.
static __global__ void read_statistics(NormModel model, unsigned channels, Normal* normals) {
  backend::cuda::begin_launch();
  const unsigned channel = blockIdx.x * blockDim.x + threadIdx.x, peer = blockIdx.y;
  if (channel >= channels) return;
  const float* buffers = model.buffers[peer];
  normals[std::size_t{peer} * channels + channel] =
      normal_of(affine_of(model, peer, channel), static_cast<double>(buffers[model.mean + channel]),
                static_cast<double>(buffers[model.variance + channel]));
}

// ---- Backward ----

/// Relu's mask: none (no relu, or dy is masked already), or where the output is positive. Without a
/// residual the output is recomputed from the input, which is read anyway.
enum class Passes : std::uint64_t { kAll, kPositive, kPositiveFromInput };

/// g, the gradient of relu's input: dy where the mask is set, else 0.
template <class T, int W>
struct Through {
  const T* dy;
  const T* y;
  Passes passes;

  /// g of W channels at `at`; reads dy, and y only where a residual was added.
  __device__ void load_gradient(std::size_t at, const float (&x)[W], const Normals<W>& normal,
                                float (&g)[W]) const {
    load(dy + at, g);
    if (passes == Passes::kAll) return;
    float out[W];
    if (passes == Passes::kPositive) {
      load(y + at, out);
    } else {
#pragma unroll
      for (int k = 0; k < W; ++k) out[k] = normalized(x[k], normal.of[k]);
    }
#pragma unroll
    for (int k = 0; k < W; ++k) g[k] = out[k] > 0 ? g[k] : 0.0f;
  }
};

/// g and g (x - mean).
template <class T, int W>
struct GradientTerms {
  const T* x;
  Through<T, W> through;
  const Normal* normals;

  __device__ Normals<W> begin(unsigned peer, unsigned first, const ChannelGrid& grid) const {
    return Normals<W>(normals, peer, first, grid);
  }
  __device__ void add(const Normals<W>& normal, std::size_t at, float (&p)[W],
                      float (&q)[W]) const {
    float v[W], g[W];
    load(x + at, v);
    through.load_gradient(at, v, normal, g);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      p[k] += g[k];
      q[k] = fmaf(g[k], v[k] - normal.of[k].mean, q[k]);
    }
  }
};

/// What the sums of a channel give. With S1 = sum of g and S2 = sum of g (x - mean), over M values:
///   d weight = r S2,   d bias = S1,   dx = scale (g - S1 / M - (x - mean) r^2 S2 / M)
struct GradientFinish {
  NormModel model;
  const Normal* normals;
  Slope* slopes;

  __device__ void operator()(unsigned peer, unsigned channel, const ChannelGrid& grid, double sum,
                             double product) const {
    const std::size_t at = std::size_t{peer} * grid.channels + channel;
    keep(peer, channel, normals[at], sum, product);
    slopes[at] = slope(normals[at], sum, product, 1.0 / grid.pixels);
  }
  /// part_of = 1 / M.
  __device__ static Slope slope(const Normal& normal, double sum, double product, double part_of) {
    const double r = normal.r, share = -part_of * static_cast<double>(normal.scale);
    return {.slope = static_cast<float>(share * r * r * product),
            .rest = static_cast<float>(share * sum)};
  }
  __device__ void keep(unsigned peer, unsigned channel, const Normal& normal, double sum,
                       double product) const {
    float* gradient = model.gradient[peer];
    gradient[model.weight + channel] = static_cast<float>(static_cast<double>(normal.r) * product);
    gradient[model.bias + channel] = static_cast<float>(sum);
  }
};

}  // namespace hearsay::engine::cuda::batch_norm
