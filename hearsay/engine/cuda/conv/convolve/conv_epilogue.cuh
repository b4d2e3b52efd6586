#pragma once

#include "hearsay/engine/cuda/conv/conv_kernels.h"
#include "hearsay/engine/cuda/conv/conv_tile.cuh"
#include "hearsay/engine/cuda/norm/normalized.cuh"

namespace hearsay::engine::cuda {

/// Two neighbouring channels.
template <class Entry>
struct alignas(2 * sizeof(Entry)) Two {
  Entry entry[2];
};

/// A load that is issued here, not sunk by the compiler to where its value is first needed (asm
/// volatile): the products in between hide its latency.
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

/// Which pixels of a tile the 16 rows of an A fragment are, which decides how often shared memory
/// is read. kRuns: 16 consecutive pixels. kStrips: 8 neighbours in one row and the 8 below them, so
/// a warp's fragments form a strip 8 wide and 2 kRows high, and the three taps of a kernel column
/// share rows of 8 pixels in registers (multiply_strip); needs stride 1 and tiles that strips
/// divide. kQuarters (has_quarters): 16 consecutive quadruples of 2 x 2 pixels, of which each of a
/// warp's four fragments has one pixel (multiply_quarters).
enum class Pixels { kRuns, kStrips, kQuarters };

/// How a block divides its tile of kPixels x kOut outputs among kWarpsM x kWarpsN warps: each has
/// kRows fragments of 16 pixels and kColumns of 8 output channels, so 4 kRows kColumns accumulators
/// per thread. kBytes: input channels per chunk, in bytes; kStages: chunks in shared memory at
/// once; kBlocks: blocks per multiprocessor that registers must suffice for. kPitch: bytes from one
/// row of weights to the next, an odd number of sixteens, so that ldmatrix has no bank conflicts.
template <int kWarpsM_, int kWarpsN_, int kRows_, int kColumns_, int kBytes_, int kStages_,
          int kBlocks_, Pixels kPixelsAs = Pixels::kRuns>
struct ConvShape {
  static constexpr int kWarpsM = kWarpsM_, kWarpsN = kWarpsN_, kRows = kRows_, kColumns = kColumns_,
                       kBytes = kBytes_, kStages = kStages_, kBlocks = kBlocks_;
  static constexpr bool kStrips = kPixelsAs == Pixels::kStrips;
  static constexpr bool kQuarters = kPixelsAs == Pixels::kQuarters;
  static_assert(!kQuarters || kRows == 4);
  static constexpr int kStripHeight = kStrips ? 2 * kRows : 0;
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kPixels = 16 * kWarpsM * kRows;
  static constexpr int kOut = 8 * kWarpsN * kColumns;
  static constexpr int kPitch = row_pitch(kBytes);

  /// Where row `row` of this warp's fragment f stands in the tile.
  __device__ static PixelPlace place(const ConvGeometry& g, int f, int row) {
    const int warp_m = threadIdx.x / 32 % kWarpsM;
    if constexpr (kStrips) {
      const int log_across = g.log_w - 3;
      const int y = (warp_m >> log_across) * kStripHeight + 2 * f + row / 8;  // of all images
      return {y >> g.log_h, y & (g.tile_h - 1), (warp_m & ((1 << log_across) - 1)) * 8 + row % 8};
    } else if constexpr (kQuarters) {
      const int four = warp_m * 16 + row, line = four >> (g.log_w - 1);
      return {line >> (g.log_h - 1), (line & (g.tile_h / 2 - 1)) * 2 + f / 2,
              (four & (g.tile_w / 2 - 1)) * 2 + f % 2};
    } else {
      return pixel_place(g, (warp_m * kRows + f) * 16 + row);
    }
  }

  /// The first line of the patch that line y of a tile reads; so for columns.
  __device__ static int patch_line(const ConvGeometry& g, int y) {
    return kQuarters ? y / 2 : y * g.stride;
  }
};

/// From a tile's accumulators to its output, with what is fused into it. One object per thread,
/// which has kRows x kColumns fragments: of each, pixels g and g + 8 and channels 2t and 2t + 1.
///
/// Forward: y = relu(sum + bias) and, if p.sums, the moments of each channel over the tile: sum s
/// and squares about the tile's mean. Backward: g = sum + add, 0 where relu's mask or the norm's
/// output is not positive and, if p.sums, the sums of g and of g (x - mean) for the batch norm that
/// made the input. So batch norm needs no pass over the tensor for its sums.
///
/// Shared memory (kShared): 8 bytes per warp row and output channel for the partial sums, backward
/// also the 16 bytes of each channel's Normal. Registers: 2 kRows offsets and, backward, up to
/// three operands of kRows x 2 x kColumns pairs, loaded by `begin` before the last chunk's
/// products.
///
/// Sums: a thread's pixels in the order of fragments, lanes by a xor tree over 4, 8, 16, warps
/// ascending: deterministic, no atomics. Stores are pairs of channels, 8 bytes (bfloat16: 4).
template <class Entry, class Shape, bool kBackward>
class Epilogue {
 public:
  using Sums = float[Shape::kRows][Shape::kColumns][4];
  /// Bytes of shared memory.
  static constexpr int kShared = Shape::kWarpsM * Shape::kOut * 8 +
                                 (kBackward ? Shape::kOut * static_cast<int>(sizeof(Normal)) : 0);

  /// All threads synchronise between this and `finish`.
  __device__ Epilogue(const ConvLaunch& p, char* shared)
      : p_(p),
        normals_(reinterpret_cast<Normal*>(shared)),
        partial_(reinterpret_cast<float2*>(normals_ + (kBackward ? Shape::kOut : 0))),
        own_out_(threadIdx.x / 32 / Shape::kWarpsM * Shape::kColumns * 8 + threadIdx.x % 4 * 2),
        channel_(blockIdx.y * Shape::kOut + own_out_),
        first_entry_(blockIdx.z * p.y_stride + channel_),
        whole_(p.geometry.out_c % Shape::kOut == 0) {
    if (!kBackward || p.normals == nullptr) return;
    const int channels = p.geometry.out_c;
    for (int at = threadIdx.x; at < Shape::kOut; at += Shape::kThreads) {
      const int c = min(static_cast<int>(blockIdx.y) * Shape::kOut + at, channels - 1);
      normals_[at] = p.normals[blockIdx.z * channels + c];
    }
  }

  /// Finds where the tile's pixels go and, backward, issues the loads of what `finish` will add or
  /// mask with. Called before the products of the tile's last chunk, which hide the latency.
  __device__ void begin(int tile) {
    const ConvGeometry& g = p_.geometry;
    const TileOrigin origin = tile_origin(g, tile);
#pragma unroll
    for (int f = 0; f < Shape::kRows; ++f) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // Accumulator rows g and g + 8 of fragment f, g = lane / 4.
        const PixelPlace place = Shape::place(g, f, half * 8 + threadIdx.x % 32 / 4);
        const int image = origin.image + place.image, y = origin.y + place.y,
                  x = origin.x + place.x;
        const bool inside = image < g.images && y < g.out_h && x < g.out_w;
        pixel_at_[f][half] = inside ? ((image * g.out_h + y) * g.out_w + x) * g.out_c : -1;
        if constexpr (kBackward) {
          fetch(p_.add, pixel_at_[f][half], there_[f][half]);
          fetch(p_.norm_x, pixel_at_[f][half], norm_x_[f][half]);
          fetch(p_.mask, pixel_at_[f][half], mask_[f][half]);
        }
      }
    }
  }

  /// Applies the fused operations, stores the tile, writes its sums to [peer][tile][channel] and
  /// leaves zero accumulators for the next tile.
  __device__ void finish(int tile, Sums& sum) {
#pragma unroll
    for (int n = 0; n < Shape::kColumns; ++n) {
      if (!whole_) {
        store_some(n, sum);
      } else if constexpr (kBackward) {
        finish_gradient(n, sum);
      } else {
        finish_values(n, sum);
      }
    }
#pragma unroll
    for (int f = 0; f < Shape::kRows; ++f) {
#pragma unroll
      for (int n = 0; n < Shape::kColumns; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[f][n][i] = 0;
      }
    }
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

  /// Bias and relu of fragment column n, in the accumulators; NaN stays NaN.
  __device__ void add_bias_and_clip(int n, Sums& sum) const {
    if (p_.bias >= 0) {
      float bias[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int c = channel_ + n * 8 + i;
        bias[i] = c < p_.geometry.out_c ? p_.parameters[blockIdx.z][p_.bias + c] : 0.0f;
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
  }

  /// Where output channels do not fill groups of kOut: stored one by one, without masks and sums
  /// (ConvDirection::can_sum).
  __device__ void store_some(int n, Sums& sum) const {
    if (!kBackward) add_bias_and_clip(n, sum);
    for_pixels(sum, n, [&](const float(&value)[2], int f, int half) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (channel_ + n * 8 + i >= p_.geometry.out_c) continue;
        const long at = first_entry_ + pixel_at_[f][half] + n * 8 + i;
        const bool adds = kBackward && p_.add != nullptr;
        static_cast<Entry*>(p_.y)[at] = from_float<Entry>(
            adds ? value[i] + to_float(static_cast<const Entry*>(p_.add)[at]) : value[i]);
      }
    });
  }

  __device__ void store_all(int n, Sums& sum) const {
    Entry* y = static_cast<Entry*>(p_.y) + first_entry_ + n * 8;
    for_pixels(sum, n, [&](const float(&value)[2], int f, int half) {
      *reinterpret_cast<Two<Entry>*>(y + pixel_at_[f][half]) = {from_float<Entry>(value[0]),
                                                                from_float<Entry>(value[1])};
    });
  }

  /// Forward, for fragment column n. Moments in two passes over registers: the warp's mean first,
  /// of all 16 kRows pixels (tiles are full, ConvDirection::can_sum_moments), then squares about
  /// it.
  __device__ void finish_values(int n, Sums& sum) {
    add_bias_and_clip(n, sum);
    store_all(n, sum);
    if (p_.sums == nullptr) return;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float total = 0, square = 0;
      for_pixels(sum, n, [&](const float(&value)[2], int, int) { total += value[i]; });
      total = over_pixels(total);
      const float mean = total / (16 * Shape::kRows);
      for_pixels(sum, n, [&](const float(&value)[2], int, int) {
        square = fmaf(value[i] - mean, value[i] - mean, square);
      });
      keep(n, i, total, over_pixels(square));
    }
  }

  /// Backward, for fragment column n: add, then mask, then (if a batch norm made the input) relu's
  /// mask recomputed from the norm's input, and the sums of g and g (x - mean).
  __device__ void finish_gradient(int n, Sums& sum) {
    if (p_.add != nullptr) {
      for_pixels(sum, n, [&](float(&value)[2], int f, int half) {
        value[0] += to_float(there_[f][half][n].entry[0]);
        value[1] += to_float(there_[f][half][n].entry[1]);
      });
    }
    if (p_.mask != nullptr) {
      for_pixels(sum, n, [&](float(&value)[2], int f, int half) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (!(to_float(mask_[f][half][n].entry[i]) > 0.0f)) value[i] = 0.0f;
        }
      });
    }
    if (p_.norm_x == nullptr) {
      store_all(n, sum);
      return;
    }
    float total[2] = {}, product[2] = {};
    const Normal normal[2] = {normals_[own_out_ + n * 8], normals_[own_out_ + n * 8 + 1]};
    for_pixels(sum, n, [&](float(&value)[2], int f, int half) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float in = to_float(norm_x_[f][half][n].entry[i]);
        if (p_.norm_relu && !(normalized(in, normal[i]) > 0.0f)) value[i] = 0.0f;
        total[i] += value[i];
        product[i] = fmaf(value[i], in - normal[i].mean, product[i]);
      }
    });
    store_all(n, sum);
#pragma unroll
    for (int i = 0; i < 2; ++i) keep(n, i, over_pixels(total[i]), over_pixels(product[i]));
  }

  /// Lanes 0 to 3 store a warp's sums of their channels.
  __device__ void keep(int n, int i, float first, float second) {
    if (threadIdx.x % 32 >= 4) return;
    const int warp_m = threadIdx.x / 32 % Shape::kWarpsM;
    partial_[warp_m * Shape::kOut + own_out_ + n * 8 + i] = {first, second};
  }

  /// The sum over the 8 lanes that have the same channels (and other pixels), in all of them.
  __device__ static float over_pixels(float value) {
#pragma unroll
    for (int apart = 4; apart < 32; apart *= 2) {
      value += __shfl_xor_sync(0xffffffffu, value, apart);
    }
    return value;
  }

  /// The sums of a tile from those of its warps, ascending; one thread per channel. Squares of
  /// moments are about the mean of a warp's pixels, and merged: with means a (m warps) and b (one
  /// warp) of kPixels each, (a - b)^2 kPixels m / (m + 1) is added (Chan, Golub, LeVeque 1983).
  __device__ void add_warps(float2* sums) const {
    constexpr float kPixels = 16 * Shape::kRows;
    for (int at = threadIdx.x; at < Shape::kOut; at += Shape::kThreads) {
      float2 all = partial_[at];
#pragma unroll
      for (int m = 1; m < Shape::kWarpsM; ++m) {
        const float2 more = partial_[m * Shape::kOut + at];
        if (!kBackward) {
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
  Normal* normals_;
  float2* partial_;
  int own_out_, channel_;  ///< the thread's first channel, in its group and at all
  long first_entry_;
  bool whole_;
  int pixel_at_[Shape::kRows][2];  ///< where its pixels stand; -1: beyond the output
  Two<Entry> there_[Shape::kRows][2][Shape::kColumns], norm_x_[Shape::kRows][2][Shape::kColumns],
      mask_[Shape::kRows][2][Shape::kColumns];
};

}  // namespace hearsay::engine::cuda
