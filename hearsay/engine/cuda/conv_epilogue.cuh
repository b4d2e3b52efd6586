#pragma once

#include "hearsay/engine/cuda/conv_kernels.h"
#include "hearsay/engine/cuda/conv_tile.cuh"

namespace hearsay::engine::cuda {

/// Two neighbouring channels.
template <class Entry>
struct alignas(2 * sizeof(Entry)) Two {
  Entry entry[2];
};

/// A load that happens here, not where its value is needed first: what is computed in between hides
/// the time it takes.
template <class Entry>
__device__ inline Two<Entry> load_now(const Entry* from) {
  if constexpr (sizeof(Two<Entry>) == 8) {
    uint2 raw;
    asm volatile("ld.global.v2.b32 {%0,%1}, [%2];" : "=r"(raw.x), "=r"(raw.y) : "l"(from));
    return reinterpret_cast<const Two<Entry>&>(raw);
  } else {
    std::uint32_t raw;
    asm volatile("ld.global.b32 %0, [%1];" : "=r"(raw) : "l"(from));
    return reinterpret_cast<const Two<Entry>&>(raw);
  }
}

/// How a block divides a tile of kPixels x kOut among its warps: each has kRows fragments of 16
/// pixels and kColumns of 8 channels. kBytes: of channels a chunk; kStages: how many chunks have
/// room.
template <int kWarpsM_, int kWarpsN_, int kRows_, int kColumns_, int kBytes_, int kStages_>
struct ConvShape {
  static constexpr int kWarpsM = kWarpsM_, kWarpsN = kWarpsN_, kRows = kRows_, kColumns = kColumns_,
                       kBytes = kBytes_, kStages = kStages_;
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kPixels = 16 * kWarpsM * kRows;
  static constexpr int kOut = 8 * kWarpsN * kColumns;
  static constexpr int kPitch = row_pitch(kBytes);
  /// Pairs of floats with room: of the warps' sums of a tile, or two a thread.
  static constexpr int kPartial = kWarpsM * kOut > 2 * kThreads ? kWarpsM* kOut : 2 * kThreads;
};

/// What becomes of a tile's products: bias, relu, what is added, what a norm wants to know, and
/// where it all goes. One a thread, which has kRows x kColumns fragments.
template <class Entry, class Shape>
class Epilogue {
 public:
  using Sums = float[Shape::kRows][Shape::kColumns][4];

  /// `partial` has room for kWarpsM x kOut, `normals` for kOut; all threads synchronise between
  /// this and `finish`.
  __device__ Epilogue(const ConvLaunch& p, float2* partial, Normal* normals)
      : p_(p),
        partial_(partial),
        normals_(normals),
        own_out_(threadIdx.x / 32 / Shape::kWarpsM * Shape::kColumns * 8 + threadIdx.x % 4 * 2),
        channel_(blockIdx.y * Shape::kOut + own_out_),
        first_entry_(blockIdx.z * p.y_stride + channel_),
        whole_(p.geometry.out_c % Shape::kOut == 0) {
    if (p.normals == nullptr) return;
    const int channels = p.geometry.out_c;
    for (int at = threadIdx.x; at < Shape::kOut; at += Shape::kThreads) {
      const int c = min(static_cast<int>(blockIdx.y) * Shape::kOut + at, channels - 1);
      normals[at] = p.normals[blockIdx.z * channels + c];
    }
  }

  /// Asks for what `finish` of that tile will read.
  __device__ void begin(int tile) {
    const ConvGeometry& g = p_.geometry;
    const TileOrigin origin = tile_origin(g, tile);
    const int warp_m = threadIdx.x / 32 % Shape::kWarpsM;
#pragma unroll
    for (int f = 0; f < Shape::kRows; ++f) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const PixelPlace place =
            pixel_place(g, (warp_m * Shape::kRows + f) * 16 + half * 8 + threadIdx.x % 32 / 4);
        const int image = origin.image + place.image, y = origin.y + place.y,
                  x = origin.x + place.x;
        const bool inside = image < g.images && y < g.out_h && x < g.out_w;
        pixel_at_[f][half] = inside ? ((image * g.out_h + y) * g.out_w + x) * g.out_c : -1;
        fetch(p_.add, pixel_at_[f][half], there_[f][half]);
        fetch(p_.norm_x, pixel_at_[f][half], norm_x_[f][half]);
        fetch(p_.norm_y, pixel_at_[f][half], norm_y_[f][half]);
      }
    }
  }

  /// Stores what comes of the sums.
  __device__ void finish(int tile, Sums& sum) {
#pragma unroll
    for (int n = 0; n < Shape::kColumns; ++n) finish_channels(n, sum);
    if (p_.sums == nullptr) return;
    __syncthreads();
    const ConvGeometry& g = p_.geometry;
    add_warps(p_.sums + (static_cast<long>(blockIdx.z) * g.tiles + tile) * g.out_c +
              blockIdx.y * Shape::kOut);
  }

 private:
  __device__ void fetch(const void* from, int pixel, Two<Entry> (&to)[Shape::kColumns]) const {
    if (from == nullptr || pixel < 0 || !whole_) return;
    const Entry* entries = static_cast<const Entry*>(from) + first_entry_ + pixel;
#pragma unroll
    for (int n = 0; n < Shape::kColumns; ++n) to[n] = load_now(entries + n * 8);
  }

  /// body(the two sums, f, half) for the pixels there are.
  template <class Body>
  __device__ void for_pixels(Sums& sum, int n, const Body& body) const {
#pragma unroll
    for (int f = 0; f < Shape::kRows; ++f) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (pixel_at_[f][half] >= 0) {
          body(*reinterpret_cast<float(*)[2]>(&sum[f][n][2 * half]), f, half);
        }
      }
    }
  }

  __device__ void finish_channels(int n, Sums& sum) {
    const ConvGeometry& g = p_.geometry;
    Entry* y = static_cast<Entry*>(p_.y) + first_entry_ + n * 8;
    if (p_.bias >= 0) {
      float bias[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int c = channel_ + n * 8 + i;
        bias[i] = c < g.out_c ? p_.parameters[blockIdx.z][p_.bias + c] : 0.0f;
      }
      for_pixels(sum, n, [&](float(&value)[2], int, int) {
        value[0] += bias[0];
        value[1] += bias[1];
      });
    }
    if (p_.relu) {
      for_pixels(sum, n, [&](float(&value)[2], int, int) {
        value[0] = value[0] < 0.0f ? 0.0f : value[0];
        value[1] = value[1] < 0.0f ? 0.0f : value[1];
      });
    }
    if (!whole_) {  // then there are no sums
      for_pixels(sum, n, [&](float(&value)[2], int f, int half) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (channel_ + n * 8 + i >= g.out_c) continue;
          const int at = pixel_at_[f][half] + i;
          if (p_.add != nullptr) {
            value[i] += to_float((static_cast<const Entry*>(p_.add) + first_entry_ + n * 8)[at]);
          }
          y[at] = from_float<Entry>(value[i]);
        }
      });
      return;
    }
    if (p_.add != nullptr) {
      for_pixels(sum, n, [&](float(&value)[2], int f, int half) {
        value[0] += to_float(there_[f][half][n].entry[0]);
        value[1] += to_float(there_[f][half][n].entry[1]);
      });
    }
    float total[2][2] = {};  // [channel][of the pair]
    if (p_.norm_x != nullptr) {
      const Normal normal[2] = {normals_[own_out_ + n * 8], normals_[own_out_ + n * 8 + 1]};
      for_pixels(sum, n, [&](float(&value)[2], int f, int half) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float in = to_float(norm_x_[f][half][n].entry[i]);
          const float passed = p_.norm_y == nullptr ? normalized(in, normal[i])
                                                    : to_float(norm_y_[f][half][n].entry[i]);
          if (p_.norm_relu && !(passed > 0.0f)) value[i] = 0.0f;
          total[i][0] += value[i];
          total[i][1] = fmaf(value[i], in - normal[i].mean, total[i][1]);
        }
      });
    } else if (p_.sums != nullptr) {
      for_pixels(sum, n, [&](const float(&value)[2], int, int) {
        total[0][0] += value[0];
        total[1][0] += value[1];
      });
    }
    for_pixels(sum, n, [&](const float(&value)[2], int f, int half) {
      *reinterpret_cast<Two<Entry>*>(y + pixel_at_[f][half]) = {from_float<Entry>(value[0]),
                                                                from_float<Entry>(value[1])};
    });
    if (p_.sums == nullptr) return;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      total[i][0] = over_pixels(total[i][0]);
      if (p_.norm_x == nullptr) {
        const float mean = total[i][0] / (16 * Shape::kRows);
        for_pixels(sum, n, [&](const float(&value)[2], int, int) {
          total[i][1] = fmaf(value[i] - mean, value[i] - mean, total[i][1]);
        });
      }
      total[i][1] = over_pixels(total[i][1]);
      if (threadIdx.x % 32 < 4) {
        const int warp_m = threadIdx.x / 32 % Shape::kWarpsM;
        partial_[warp_m * Shape::kOut + own_out_ + n * 8 + i] = {total[i][0], total[i][1]};
      }
    }
  }

  /// The sum over the lanes that have the same channels.
  __device__ static float over_pixels(float value) {
#pragma unroll
    for (int apart = 4; apart < 32; apart *= 2) {
      value += __shfl_xor_sync(0xffffffffu, value, apart);
    }
    return value;
  }

  /// The sums of a tile from those of its warps. Of moments the second is about the mean, here of a
  /// warp's pixels (Chan, Golub, LeVeque 1983).
  __device__ void add_warps(float2* sums) const {
    constexpr float kPixels = 16 * Shape::kRows;
    for (int at = threadIdx.x; at < Shape::kOut; at += Shape::kThreads) {
      float2 all = partial_[at];
#pragma unroll
      for (int m = 1; m < Shape::kWarpsM; ++m) {
        const float2 more = partial_[m * Shape::kOut + at];
        if (p_.norm_x == nullptr) {
          const float apart = all.x / (kPixels * m) - more.x / kPixels;
          all.y = fmaf(apart * apart, kPixels * m / (m + 1), all.y);
        }
        all.x += more.x;
        all.y += more.y;
      }
      sums[at] = all;
    }
  }

  const ConvLaunch& p_;
  float2* partial_;
  Normal* normals_;
  int own_out_, channel_;  ///< the thread's first channel, in its group and at all
  long first_entry_;
  bool whole_;
  int pixel_at_[Shape::kRows][2];  ///< where its pixels stand; -1: beyond the output
  Two<Entry> there_[Shape::kRows][2][Shape::kColumns], norm_x_[Shape::kRows][2][Shape::kColumns],
      norm_y_[Shape::kRows][2][Shape::kColumns];
};

}  // namespace hearsay::engine::cuda
