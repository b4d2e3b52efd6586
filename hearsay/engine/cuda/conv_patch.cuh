#pragma once

#include "hearsay/backend/cuda/launch.cuh"
#include "hearsay/engine/cuda/conv_kernels.h"
#include "hearsay/engine/cuda/conv_tile.cuh"

namespace hearsay::engine::cuda {

template <class Entry>
struct alignas(2 * sizeof(Entry)) Two {
  Entry entry[2];
};

/// How a block of `convolve` divides its tile of kPixels x kOut among its warps: each has kRows
/// fragments of 16 pixels and kColumns of 8 channels. kBytes: of channels a chunk.
template <int kWarpsM_, int kWarpsN_, int kRows_, int kColumns_, int kBytes_, int kStages_>
struct ConvShape {
  static constexpr int kWarpsM = kWarpsM_, kWarpsN = kWarpsN_, kRows = kRows_, kColumns = kColumns_,
                       kBytes = kBytes_, kStages = kStages_;
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kPixels = 16 * kWarpsM * kRows;
  static constexpr int kOut = 8 * kWarpsN * kColumns;
  static constexpr int kPitch = row_pitch(kBytes);
};

/// y = convolution of x with the packed weights, for all peers: block (tile, group of kOut
/// channels, peer). Implicit matrix product: pixels x (taps x channels) x output channels.
template <class Math, class Shape, int kKernel, bool kWhole>
__global__ void __launch_bounds__(Shape::kThreads) convolve(ConvLaunch p) {
  backend::cuda::begin_launch();
  using Entry = typename Math::Entry;
  constexpr int kPitch = Shape::kPitch;
  extern __shared__ __align__(16) char shared[];
  const ConvGeometry& g = p.geometry;
  const int kernel = kKernel > 0 ? kKernel : g.kernel;
  const int peer = blockIdx.z;
  const Source<Entry> x{static_cast<const Entry*>(p.x) + peer * p.x_stride, g.in_h, g.in_w, g.in_c};
  const int weight_bytes = kernel * kernel * Shape::kOut * kPitch;
  const int stage_bytes = weight_bytes + g.patch_positions() * kPitch;
  const char* packed = static_cast<const char*>(p.weights) + peer * p.weights_stride +
                       static_cast<long>(blockIdx.y) * p.chunks * weight_bytes;
  const TileOrigin origin = tile_origin(g, blockIdx.x);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_m = warp % Shape::kWarpsM, warp_n = warp / Shape::kWarpsM;

  const Window window = patch_window(g, origin);
  const auto ask = [&](int chunk) {
    char* stage = shared + (Shape::kStages > 1 ? chunk % 2 * stage_bytes : 0);
    const char* from = packed + static_cast<long>(chunk) * weight_bytes;
    const std::uint32_t to = shared_address(stage);
    for (int at = threadIdx.x * 16; at < weight_bytes; at += Shape::kThreads * 16) {
      copy_16_async(to + at, from + at);
    }
    copy_window<Math, Shape::kThreads, Shape::kBytes, kWhole>(
        x, window, chunk * (Shape::kBytes / static_cast<int>(sizeof(Entry))), stage + weight_bytes,
        kPitch);
    commit_copies();
  };

  // The rows of A that this lane addresses: pixel (lane mod 16) of each fragment, one half of 32
  // bytes; of B: channel lane mod 8 of two fragments.
  int a_offset[Shape::kRows];
#pragma unroll
  for (int f = 0; f < Shape::kRows; ++f) {
    const PixelPlace place = pixel_place(g, (warp_m * Shape::kRows + f) * 16 + lane % 16);
    a_offset[f] =
        ((place.image * g.patch_h + place.y * g.stride) * g.patch_w + place.x * g.stride) * kPitch +
        lane / 16 * 16;
  }
  const int b_offset =
      (warp_n * Shape::kColumns * 8 + lane % 8 + lane / 16 * 8) * kPitch + lane / 8 % 2 * 16;

  float sum[Shape::kRows][Shape::kColumns][4] = {};
  ask(0);
  for (int chunk = 0; chunk < p.chunks; ++chunk) {
    wait_for_copies();
    __syncthreads();
    if (Shape::kStages > 1 && chunk + 1 < p.chunks) ask(chunk + 1);
    const char* stage = shared + (Shape::kStages > 1 ? chunk % 2 * stage_bytes : 0);
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

  // Where this lane's pixels stand, -1: beyond the output.
  int pixel_at[Shape::kRows][2];
#pragma unroll
  for (int f = 0; f < Shape::kRows; ++f) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const PixelPlace place =
          pixel_place(g, (warp_m * Shape::kRows + f) * 16 + half * 8 + lane / 4);
      const int image = origin.image + place.image, py = origin.y + place.y,
                px = origin.x + place.x;
      const bool there = image < g.images && py < g.out_h && px < g.out_w;
      pixel_at[f][half] = there ? ((image * g.out_h + py) * g.out_w + px) * g.out_c : -1;
    }
  }
  const int channel = blockIdx.y * Shape::kOut + warp_n * Shape::kColumns * 8 + lane % 4 * 2;
  const auto for_all = [&](const auto& body) {  // body(accumulator, pixel, n, half)
#pragma unroll
    for (int f = 0; f < Shape::kRows; ++f) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (pixel_at[f][half] < 0) continue;
#pragma unroll
        for (int n = 0; n < Shape::kColumns; ++n) {
          body(*reinterpret_cast<float(*)[2]>(&sum[f][n][2 * half]), pixel_at[f][half], n);
        }
      }
    }
  };
  Entry* y = static_cast<Entry*>(p.y) + peer * p.y_stride + channel;
  if (p.bias >= 0) {
    float bias[Shape::kColumns][2];
#pragma unroll
    for (int n = 0; n < Shape::kColumns; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int c = channel + n * 8 + i;
        bias[n][i] = c < g.out_c ? p.parameters[peer][p.bias + c] : 0.0f;
      }
    }
    for_all([&](float(&value)[2], int, int n) {
      value[0] += bias[n][0];
      value[1] += bias[n][1];
    });
  }
  if (p.relu) {
    for_all([&](float(&value)[2], int, int) {
      value[0] = value[0] < 0.0f ? 0.0f : value[0];
      value[1] = value[1] < 0.0f ? 0.0f : value[1];
    });
  }
  if (g.out_c % Shape::kOut != 0) {  // then there are no sums
    for_all([&](float(&value)[2], int at, int n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (channel + n * 8 + i >= g.out_c) continue;
        if (p.add) value[i] += to_float(y[at + n * 8 + i]);
        y[at + n * 8 + i] = from_float<Entry>(value[i]);
      }
    });
    return;
  }
  if (p.add) {
    for_all([&](float(&value)[2], int at, int n) {
      const Two<Entry> there = *reinterpret_cast<const Two<Entry>*>(y + at + n * 8);
      value[0] += to_float(there.entry[0]);
      value[1] += to_float(there.entry[1]);
    });
  }
  float total[Shape::kColumns][2][2] = {};  // [fragment][channel][of the pair]
  if (p.norm_x != nullptr) {
    const long shift = y - static_cast<Entry*>(p.y);
    const Entry* norm_x = static_cast<const Entry*>(p.norm_x) + shift;
    const Entry* norm_y =
        p.norm_y == nullptr ? nullptr : static_cast<const Entry*>(p.norm_y) + shift;
    for_all([&](float(&value)[2], int at, int n) {
      const Two<Entry> in = *reinterpret_cast<const Two<Entry>*>(norm_x + at + n * 8);
      const Two<Entry> out =
          norm_y == nullptr ? in : *reinterpret_cast<const Two<Entry>*>(norm_y + at + n * 8);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const Normal normal = p.normals[peer * g.out_c + channel + n * 8 + i];
        const float apart = to_float(in.entry[i]) - normal.mean;
        const float passed =
            norm_y == nullptr ? fmaf(apart, normal.scale, normal.bias) : to_float(out.entry[i]);
        if (p.norm_relu && !(passed > 0.0f)) value[i] = 0.0f;
        total[n][i][0] += value[i];
        total[n][i][1] = fmaf(value[i], apart, total[n][i][1]);
      }
    });
  } else if (p.sums != nullptr) {
    for_all([&](const float(&value)[2], int, int n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        total[n][i][0] += value[i];
        total[n][i][1] = fmaf(value[i], value[i], total[n][i][1]);
      }
    });
  }
  for_all([&](const float(&value)[2], int at, int n) {
    *reinterpret_cast<Two<Entry>*>(y + at + n * 8) = {from_float<Entry>(value[0]),
                                                      from_float<Entry>(value[1])};
  });
  if (p.sums == nullptr) return;
  __syncthreads();
  float2* partial = reinterpret_cast<float2*>(shared);  // [warp_m][kOut]
#pragma unroll
  for (int n = 0; n < Shape::kColumns; ++n) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float2 both{total[n][i][0], total[n][i][1]};
#pragma unroll
      for (int apart = 4; apart < 32; apart *= 2) {
        both.x += __shfl_xor_sync(0xffffffffu, both.x, apart);
        both.y += __shfl_xor_sync(0xffffffffu, both.y, apart);
      }
      if (lane < 4) {
        partial[warp_m * Shape::kOut + warp_n * Shape::kColumns * 8 + n * 8 + lane * 2 + i] = both;
      }
    }
  }
  __syncthreads();
  for (int at = threadIdx.x; at < Shape::kOut; at += Shape::kThreads) {
    float2 both = partial[at];
    for (int m = 1; m < Shape::kWarpsM; ++m) {
      both.x += partial[m * Shape::kOut + at].x;
      both.y += partial[m * Shape::kOut + at].y;
    }
    p.sums[(static_cast<long>(peer) * g.tiles + blockIdx.x) * g.out_c + blockIdx.y * Shape::kOut +
           at] = both;
  }
}

}  // namespace hearsay::engine::cuda
