#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/channel_sums.h"
#include "hearsay/engine/cuda/normalized.cuh"
#include "hearsay/engine/cuda/read_norm.cuh"
#include "hearsay/engine/cuda/step.h"

/// The launches of batch norm: statistics and y = relu((x - mean) scale + bias + residual), then
/// the sums of the gradient and what follows from them.
namespace hearsay::engine::cuda::batch_norm {

/// Those of W neighbouring channels.
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

/// From the sums of x - shift and of its square over `count` values: what normalises the channel;
/// the running statistics follow.
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

/// In evaluation: from the running statistics.
inline __global__ void read_statistics(NormModel model, unsigned channels, Normal* normals) {
  backend::cuda::begin_launch();
  const unsigned channel = blockIdx.x * blockDim.x + threadIdx.x, peer = blockIdx.y;
  if (channel >= channels) return;
  const float* buffers = model.buffers[peer];
  normals[std::size_t{peer} * channels + channel] =
      normal_of(affine_of(model, peer, channel), static_cast<double>(buffers[model.mean + channel]),
                static_cast<double>(buffers[model.variance + channel]));
}

/// One block's pixels.
template <class T, int W>
__device__ void normalize_part(const ChannelGrid& grid, const ChannelPart<W>& part, const T* x,
                               const Normals<W>& normal, const T* residual, bool relu, T* y) {
#pragma unroll 4
  for (unsigned p = part.begin; p < part.end; p += part.rows) {
    const std::size_t at = part.at(grid, p);
    float v[W], more[W] = {};
    load(x + at, v);
    if (residual != nullptr) load(residual + at, more);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      v[k] = normalized(v[k], normal.of[k]) + more[k];
      if (relu && v[k] < 0) v[k] = 0;
    }
    store(v, y + at);
  }
}

/// Where the moments are there in parts, every block adds them up for itself, which takes less time
/// than another launch; the first one of a peer keeps what comes of them.
template <class T, int W>
__global__ void __launch_bounds__(kChannelThreads)
    normalize(ChannelGrid grid, ReadNorm norm, const T* x, const T* residual, T* y) {
  backend::cuda::begin_launch();
  __shared__ double2 scratch[kChannelThreads];
  extern __shared__ __align__(16) Normal found[];  // one a channel
  const ChannelPart<W> part(grid);
  find_normals<kChannelThreads>(norm, blockIdx.z, grid.channels, blockIdx.x == 0 && blockIdx.y == 0,
                                scratch, found);
  const Normals<W> normal(found + part.first);
  normalize_part<T, W>(grid, part, x, normal, residual, norm.relu != 0, y);
}

// ---- Backward ----

/// What relu let through: all (there is none), or where the output is positive. Where nothing was
/// added to it, the output is found from the input again, which is read anyway.
enum class Passes : std::uint64_t { kAll, kPositive, kPositiveFromInput };

/// g, the gradient of what went into relu.
template <class T, int W>
struct Through {
  const T* dy;
  const T* y;
  Passes passes;

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

/// With S1 = sum of g and S2 = sum of g (x - mean), over M values:
///   d weight = r S2,   d bias = S1,   dx = scale (g - S1 / M - (x - mean) r^2 S2 / M)
struct GradientFinish {
  NormModel model;
  const Normal* normals;
  Slope* slopes;

  __device__ void operator()(unsigned peer, unsigned channel, const ChannelGrid& grid, double sum,
                             double product) const {
    keep(peer, channel, sum, product, grid);
    slopes[std::size_t{peer} * grid.channels + channel] = slope(peer, channel, sum, product, grid);
  }
  __device__ Slope slope(unsigned peer, unsigned channel, double sum, double product,
                         const ChannelGrid& grid) const {
    const Normal& normal = normals[std::size_t{peer} * grid.channels + channel];
    const double r = normal.r, scale = normal.scale;
    return {.slope = static_cast<float>(-scale * r * r * product / grid.pixels),
            .rest = static_cast<float>(-scale * sum / grid.pixels)};
  }
  __device__ void keep(unsigned peer, unsigned channel, double sum, double product,
                       const ChannelGrid& grid) const {
    const double r = normals[std::size_t{peer} * grid.channels + channel].r;
    float* gradient = model.gradient[peer];
    gradient[model.weight + channel] = static_cast<float>(r * product);
    gradient[model.bias + channel] = static_cast<float>(sum);
  }
};

/// Where dx and the residual's gradient go, where wanted; the two may be one array, which then gets
/// both. The residual's may be that of dy.
template <class T>
struct Targets {
  T* dx = nullptr;
  T* residual = nullptr;
  unsigned add = 0, add_residual = 0;
};

/// One block's pixels; slope[k] is of the thread's k-th channel.
template <class T, int W>
__device__ void pull_back_part(const ChannelGrid& grid, const ChannelPart<W>& part, const T* x,
                               const Through<T, W>& through, const Normals<W>& normal,
                               const Slope (&slope)[W], const Targets<T>& to) {
#pragma unroll 2
  for (unsigned p = part.begin; p < part.end; p += part.rows) {
    const std::size_t at = part.at(grid, p);
    float v[W], g[W];
    load(x + at, v);
    through.load_gradient(at, v, normal, g);
    if (to.dx != nullptr) {
#pragma unroll
      for (int k = 0; k < W; ++k) {
        v[k] = fmaf(normal.of[k].scale, g[k],
                    fmaf(slope[k].slope, v[k] - normal.of[k].mean, slope[k].rest));
      }
      store_gradient(v, to.add != 0, to.dx + at);
    }
    if (to.residual != nullptr) store_gradient(g, to.add_residual != 0, to.residual + at);
  }
}

template <class T, int W>
__global__ void __launch_bounds__(kChannelThreads)
    pull_back(ChannelGrid grid, const T* x, Through<T, W> through, const Normal* normals,
              const Slope* slopes, Targets<T> to) {
  backend::cuda::begin_launch();
  const ChannelPart<W> part(grid);
  const Normals<W> normal(normals, blockIdx.z, part.first, grid);
  Slope slope[W];
#pragma unroll
  for (int k = 0; k < W; ++k) {
    slope[k] = slopes[std::size_t{blockIdx.z} * grid.channels + part.first + k];
  }
  pull_back_part<T, W>(grid, part, x, through, normal, slope, to);
}

/// The same where the sums are there in parts, as in normalize_from_sums.
template <class T, int W>
__global__ void __launch_bounds__(kChannelThreads)
    pull_back_from_sums(ChannelGrid grid, TileSums sums, GradientFinish finish, const T* x,
                        Through<T, W> through, Targets<T> to) {
  backend::cuda::begin_launch();
  extern __shared__ __align__(16) Slope slopes[];  // one a channel of the slab
  const ChannelPart<W> part(grid);
  const unsigned peer = blockIdx.z, base = blockIdx.y * kChannelThreads * W;
  finish_sums(sums.parts + peer * sums.count * grid.channels, static_cast<unsigned>(sums.count),
              grid.channels, base, part.lanes * W,
              [&](unsigned channel, double sum, double product) {
                slopes[channel - base] = finish.slope(peer, channel, sum, product, grid);
                if (blockIdx.x == 0) finish.keep(peer, channel, sum, product, grid);
              });
  const Normals<W> normal(finish.normals, peer, part.first, grid);
  Slope slope[W];
#pragma unroll
  for (int k = 0; k < W; ++k) slope[k] = slopes[part.first - base + k];
  pull_back_part<T, W>(grid, part, x, through, normal, slope, to);
}

}  // namespace hearsay::engine::cuda::batch_norm
