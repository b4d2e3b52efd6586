#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv_epilogue.cuh"
#include "hearsay/engine/cuda/read_norm.cuh"

namespace hearsay::engine::cuda {

/// y = convolution of x with the packed weights, for all peers: block (tile, group of kOut
/// channels, peer). Implicit matrix product: pixels x (taps x channels) x output channels.
template <class Math, class Shape, int kKernel, bool kWhole>
__global__ void __launch_bounds__(Shape::kThreads) convolve(const __grid_constant__ ConvLaunch p) {
  backend::cuda::begin_launch();
  using Entry = typename Math::Entry;
  constexpr int kPitch = Shape::kPitch;
  constexpr int kEntries = Shape::kBytes / static_cast<int>(sizeof(Entry));  // of a chunk
  extern __shared__ __align__(1024) char shared[];  // as kernels of one file must agree
  const ConvGeometry& g = p.geometry;
  const int kernel = kKernel > 0 ? kKernel : g.kernel;
  const int peer = blockIdx.z;
  const Source<Entry> x{static_cast<const Entry*>(p.x) + peer * p.x_stride, g.in_h, g.in_w, g.in_c};
  const int weight_bytes = kernel * kernel * Shape::kOut * kPitch;
  const int stage_bytes = weight_bytes + g.patch_positions() * kPitch;
  const auto stage_of = [&](int chunk) {
    return shared + (Shape::kStages > 1 ? chunk % 2 * stage_bytes : 0);
  };
  auto* const partial =
      reinterpret_cast<float2*>(shared + (p.chunks > 1 ? Shape::kStages : 1) * stage_bytes);
  auto* const out_normals = reinterpret_cast<Normal*>(partial + Shape::kPartial);
  Normal* const in_normals = out_normals + Shape::kOut;
  const char* packed = static_cast<const char*>(p.weights) + peer * p.weights_stride +
                       static_cast<long>(blockIdx.y) * p.chunks * weight_bytes;
  const Window window = patch_window(g, tile_origin(g, blockIdx.x));
  const auto ask = [&](int chunk) {
    char* stage = stage_of(chunk);
    const char* from = packed + static_cast<long>(chunk) * weight_bytes;
    const std::uint32_t to = shared_address(stage);
    for (int at = threadIdx.x * 16; at < weight_bytes; at += Shape::kThreads * 16) {
      copy_16_async(to + at, from + at);
    }
    copy_window<Math, Shape::kThreads, Shape::kBytes, kWhole>(x, window, chunk * kEntries,
                                                              stage + weight_bytes, kPitch);
    commit_copies();
  };
  ask(0);
  Epilogue<Entry, Shape> epilogue(p, partial, out_normals);
  if (p.read.normals != nullptr) {
    find_normals<Shape::kThreads>(p.read, peer, static_cast<unsigned>(g.in_c),
                                  blockIdx.x == 0 && blockIdx.y == 0,
                                  reinterpret_cast<double2*>(partial), in_normals);
  }

  // The rows of A that this lane addresses: pixel (lane mod 16) of each fragment, one half of 32
  // bytes; of B: channel lane mod 8 of two fragments.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int a_offset[Shape::kRows];
#pragma unroll
  for (int f = 0; f < Shape::kRows; ++f) {
    const PixelPlace place =
        pixel_place(g, (warp % Shape::kWarpsM * Shape::kRows + f) * 16 + lane % 16);
    a_offset[f] =
        ((place.image * g.patch_h + place.y * g.stride) * g.patch_w + place.x * g.stride) * kPitch +
        lane / 16 * 16;
  }
  const int b_offset =
      (warp / Shape::kWarpsM * Shape::kColumns * 8 + lane % 8 + lane / 16 * 8) * kPitch +
      lane / 8 % 2 * 16;

  float sum[Shape::kRows][Shape::kColumns][4] = {};
  for (int chunk = 0; chunk < p.chunks; ++chunk) {
    wait_for_copies();
    char* stage = stage_of(chunk);
    if (p.read.normals != nullptr) {
      normalize_window<Math, Shape::kThreads, Shape::kBytes>(
          x, window, chunk * kEntries, stage + weight_bytes, kPitch, in_normals, p.read.relu != 0);
    }
    __syncthreads();
    if (Shape::kStages > 1 && chunk + 1 < p.chunks) ask(chunk + 1);
    if (chunk + 1 == p.chunks) epilogue.begin(blockIdx.x);
    const std::uint32_t weights = shared_address(stage) + b_offset;
    const std::uint32_t patch = shared_address(stage) + weight_bytes;
#pragma unroll(kKernel > 0 ? 3 : 1)
    for (int k = 0; k < kernel; ++k) {
#pragma unroll(kKernel > 0 ? 3 : 1)
      for (int l = 0; l < kernel; ++l) {
#pragma unroll
        for (int step = 0; step < Shape::kBytes / 32; ++step) {
          std::uint32_t a[Shape::kRows][4];
#pragma unroll
          for (int f = 0; f < Shape::kRows; ++f) {
            load_matrices(a[f], patch + a_offset[f] + (k * g.patch_w + l) * kPitch + step * 32);
          }
#pragma unroll
          for (int pair = 0; pair < Shape::kColumns / 2; ++pair) {
            std::uint32_t b[4];
            load_matrices(
                b, weights + ((k * kernel + l) * Shape::kOut + pair * 16) * kPitch + step * 32);
#pragma unroll
            for (int f = 0; f < Shape::kRows; ++f) {
              Math::multiply(sum[f][2 * pair], a[f], b[0], b[1]);
              Math::multiply(sum[f][2 * pair + 1], a[f], b[2], b[3]);
            }
          }
        }
      }
    }
    if (Shape::kStages == 1 && chunk + 1 < p.chunks) {
      __syncthreads();
      ask(chunk + 1);
    }
  }
  epilogue.finish(blockIdx.x, sum);
}

}  // namespace hearsay::engine::cuda
