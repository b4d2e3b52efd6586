#pragma once

#include "hearsay/engine/cuda/norm/batch_norm.cuh"

/// The elementwise passes of batch norm: y = relu((x - mean) scale + bias + residual), and
/// backward.
///
/// Where sums are there in parts (TileSums of a convolution), every block adds them up for itself,
/// which takes less time than another launch; one block per peer (and slab) without pixels stores
/// the results. Loads of the first pixels are issued before, so that they overlap with that.
namespace hearsay::engine::cuda::batch_norm {

constexpr unsigned kPassThreads = 512;

/// Blocks per multiprocessor, and pixels that a thread loads ahead: what registers allow. W > 4 is
/// bfloat16, whose 8 channels unpack to twice the floats.
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

/// y(pixel, c) = relu((x - mean_c) scale_c + bias_c + residual), for all pixels of a peer. Grid
/// (chunks of pixels + 1, slabs of channels, peers), 512 threads; a thread has W channels (16
/// bytes) of every rows-th pixel of its chunk, the last block in x none. 2 blocks per
/// multiprocessor (W = 8: 1).
///
/// Shared memory: 512 x 16 = 8,192 bytes of scratch for the sums, and 16 bytes per channel for the
/// Normals, dynamic. Registers: 4 W floats of Normals, and kAtOnce pixels of x and residual, 16
/// bytes each, software-pipelined: the next kAtOnce are loaded after the current ones are stored.
///
/// Sums of moments: in double, in an order of the sizes only (sum_parts); the same in every block.
/// Bound by memory bandwidth at 16 peers (largest passes 2.5 to 3 TB/s), by latency at 4: 19
/// launches of ResNet-20 take 130 us (docs/performance.md).
template <class T, int W>
__global__ void __launch_bounds__(kPassThreads, kPassBlocks<W>)
    normalize(ChannelGrid grid, NormPass norm, const T* x, const T* residual, T* y) {
  backend::cuda::begin_launch();
  __shared__ double2 scratch[kPassThreads];
  extern __shared__ __align__(16) Normal found[];  // one per channel
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
  // Each thread's channels are the same for all of its pixels, so their Normals are registers.
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

/// Where dx and the residual's gradient go, null where not wanted; the two may be one array, which
/// then gets both. The residual's may be that of dy. add: to what is there, as second accumulator.
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

/// Backward: dx = scale g + slope (x - mean) + rest, and the residual's gradient g, from
/// grad_output dy. slope and rest are computed from `sums` where these are there, else read
/// (GradientFinish has stored them); with sums, the extra block of a slab also stores d weight and
/// d bias.
///
/// Grid and threads as `normalize`. Shared memory: 8,192 bytes of scratch, and 16 bytes per channel
/// of the slab (at most 512 W channels) for the Tangents. Registers: 4 W floats of Tangents,
/// kAtOnce pixels of x and dy, loaded one iteration ahead, and a bit mask of relu per pixel.
///
/// Sums in double by sum_parts, order of the sizes only. Bound by memory bandwidth at 16 peers (2.5
/// to 3 TB/s in the largest), by latency at 4: 122 us for 19 launches (docs/performance.md).
template <class T, int W>
__global__ void __launch_bounds__(kPassThreads, kPassBlocks<W>)
    pull_back(ChannelGrid grid, TileSums sums, GradientFinish finish, const T* x,
              Through<T, W> through, Targets<T> to) {
  backend::cuda::begin_launch();
  __shared__ double2 scratch[kPassThreads];
  extern __shared__ __align__(16) Tangent tangents[];  // one per channel of the slab
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
  // The Tangents of the slab, from the convolution's sums or from what channel_sums has stored.
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
    unsigned stopped[kAtOnce<W>] = {};  // bit k: relu masks the k-th channel
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
