#pragma once

#include "hearsay/engine/cuda/norm/batch_norm.cuh"

/// The passes of batch norm over a tensor: y = relu((x - mean) scale + bias + residual), and back.
///
/// Where sums are there in parts, every block adds them up for itself, which takes less time than
/// another launch; a block of each peer without pixels keeps what comes of them. Meanwhile the
/// first pixels are on their way.
namespace hearsay::engine::cuda::batch_norm {

constexpr unsigned kPassThreads = 512;

/// Blocks a processor, and pixels that a thread asks for before it needs the first: what registers
/// have room for.
template <int W>
constexpr unsigned kPassBlocks = W > 4 ? 1 : 2;
template <int W>
constexpr unsigned kAtOnce = W > 4 ? 4 : 2;

/// Calls body(j, place) for those of kAtOnce pixels from p on that the thread has.
template <int W, class Body>
__device__ void for_pixels(const ChannelGrid& grid, const ChannelPart<W>& part, unsigned p,
                           const Body& body) {
#pragma unroll
  for (unsigned j = 0; j < kAtOnce<W>; ++j) {
    if (p + j * part.rows < part.end) body(j, part.at(grid, p + j * part.rows));
  }
}

template <class T, int W>
__global__ void __launch_bounds__(kPassThreads, kPassBlocks<W>)
    normalize(ChannelGrid grid, NormPass norm, const T* x, const T* residual, T* y) {
  backend::cuda::begin_launch();
  __shared__ double2 scratch[kPassThreads];
  extern __shared__ __align__(16) Normal found[];  // one a channel
  const ChannelPart<W> part(grid);
  Entries<T, W> in[kAtOnce<W>], more[kAtOnce<W>];
  const auto ask = [&](unsigned p) {
    for_pixels<W>(grid, part, p, [&](unsigned j, unsigned at) {
      in[j] = load_entries<W>(x + at);
      if (residual != nullptr) more[j] = load_entries<W>(residual + at);
    });
  };
  ask(part.begin);
  find_normals<kPassThreads>(norm, blockIdx.z, grid.channels, part.keeps(grid) && blockIdx.y == 0,
                             scratch, found);
  const Normals<W> normal(found + part.first);
  for (unsigned p = part.begin; p < part.end; p += kAtOnce<W> * part.rows) {
    for_pixels<W>(grid, part, p, [&](unsigned j, unsigned at) {
      float v[W], added[W] = {};
      unpack<W, T>(in[j], v);
      if (residual != nullptr) unpack<W, T>(more[j], added);
#pragma unroll
      for (int k = 0; k < W; ++k) {
        v[k] = normalized(v[k], normal.of[k]) + added[k];
        if (norm.relu != 0 && v[k] < 0) v[k] = 0;
      }
      store(v, y + at);
    });
    ask(p + kAtOnce<W> * part.rows);
  }
}

/// Where dx and the residual's gradient go, where wanted; the two may be one array, which then gets
/// both. The residual's may be that of dy.
template <class T>
struct Targets {
  T* dx = nullptr;
  T* residual = nullptr;
  unsigned add = 0, add_residual = 0;
};

/// dx = scale g + slope (x - mean) + rest, for a channel.
struct alignas(16) Tangent {
  float mean, scale, slope, rest;
};

/// From dy to the gradients of the inputs. The slopes come of `sums`, where these are there, and
/// are found already where not.
template <class T, int W>
__global__ void __launch_bounds__(kPassThreads, kPassBlocks<W>)
    pull_back(ChannelGrid grid, TileSums sums, GradientFinish finish, const T* x,
              Through<T, W> through, Targets<T> to) {
  backend::cuda::begin_launch();
  __shared__ double2 scratch[kPassThreads];
  extern __shared__ __align__(16) Tangent tangents[];  // one a channel of the slab
  const ChannelPart<W> part(grid);
  const unsigned peer = blockIdx.z, own = part.base + threadIdx.x;
  const Normal* normals = finish.normals + std::size_t{peer} * grid.channels;
  Entries<T, W> in[kAtOnce<W>], gradient[kAtOnce<W>];
  const auto ask = [&](unsigned p) {
    for_pixels<W>(grid, part, p, [&](unsigned j, unsigned at) {
      in[j] = load_entries<W>(x + at);
      gradient[j] = load_entries<W>(through.dy + at);
    });
  };
  ask(part.begin);
  const auto found = [&](unsigned channel, const Normal& normal, const Slope& slope) {
    tangents[channel - part.base] = {normal.mean, normal.scale, slope.slope, slope.rest};
  };
  if (sums.parts != nullptr) {
    const Normal own_normal = normals[min(own, grid.channels - 1)];
    const double part_of = 1.0 / grid.pixels;
    sum_parts<kPassThreads>(sums.parts + peer * sums.count * grid.channels,
                            static_cast<unsigned>(sums.count), grid.channels, part.base,
                            part.width(), scratch, PlainPair{}, [&](unsigned channel, double2 sum) {
                              const Normal normal = channel == own ? own_normal : normals[channel];
                              found(channel, normal,
                                    GradientFinish::slope(normal, sum.x, sum.y, part_of));
                              if (part.keeps(grid))
                                finish.keep(peer, channel, normal, sum.x, sum.y);
                            });
  } else {
    const Slope* slopes = finish.slopes + std::size_t{peer} * grid.channels;
    for (unsigned c = own; c < part.base + part.width(); c += kPassThreads) {
      found(c, normals[c], slopes[c]);
    }
    __syncthreads();
  }
  Tangent tangent[W];
#pragma unroll
  for (int k = 0; k < W; ++k) tangent[k] = tangents[part.first - part.base + k];
  for (unsigned p = part.begin; p < part.end; p += kAtOnce<W> * part.rows) {
    unsigned stopped[kAtOnce<W>] = {};  // bit k: relu stops the k-th channel
    if (through.passes != Passes::kAll) {
      for_pixels<W>(grid, part, p, [&](unsigned j, unsigned at) {
        float out[W];
        if (through.passes == Passes::kPositive) {
          load(through.y + at, out);
        } else {
          unpack<W, T>(in[j], out);
#pragma unroll
          for (int k = 0; k < W; ++k) out[k] = normalized(out[k], normals[part.first + k]);
        }
#pragma unroll
        for (int k = 0; k < W; ++k) stopped[j] |= out[k] > 0 ? 0u : 1u << k;
      });
    }
    for_pixels<W>(grid, part, p, [&](unsigned j, unsigned at) {
      float v[W], g[W];
      unpack<W, T>(in[j], v);
      unpack<W, T>(gradient[j], g);
#pragma unroll
      for (int k = 0; k < W; ++k) {
        if ((stopped[j] >> k & 1) != 0) g[k] = 0;
        v[k] = fmaf(tangent[k].scale, g[k],
                    fmaf(tangent[k].slope, v[k] - tangent[k].mean, tangent[k].rest));
      }
      if (to.dx != nullptr) store_gradient(v, to.add != 0, to.dx + at);
      if (to.residual != nullptr) store_gradient(g, to.add_residual != 0, to.residual + at);
    });
    ask(p + kAtOnce<W> * part.rows);
  }
}

}  // namespace hearsay::engine::cuda::batch_norm
