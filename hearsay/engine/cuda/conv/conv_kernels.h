#pragma once

#include <span>
#include <type_traits>

#include <cuda.h>

#include "hearsay/backend/device.h"
#include "hearsay/engine/cuda/conv/conv_geometry.h"
#include "hearsay/engine/cuda/norm/tile_sums.h"

/// The launches that a convolution consists of, and which kernels there are to choose from.
namespace hearsay::engine::cuda {

/// y = convolution of x with packed weights (weight_packer.h), for all peers: grid (blocks that
/// share the tiles of a peer, groups of output channels, peers).
struct ConvLaunch {
  ConvGeometry geometry;
  const void* x = nullptr;
  void* y = nullptr;
  const void* weights = nullptr;
  long x_stride = 0, y_stride = 0;           ///< entries from peer to peer
  long weights_stride = 0;                   ///< bytes from peer to peer
  const float* const* parameters = nullptr;  ///< [peer], for the bias
  long bias = -1;                            ///< its offset, or -1
  const void* add = nullptr;                 ///< of y's shape, maybe y itself: added to the result
  float2* sums = nullptr;  ///< [peer][tile][out_c], or null: of y and of (y - mean of the tile)^2
                           ///< or, where `norm_x` is set, of g and of g (x - mean)
  const void* mask = nullptr;       ///< y is a gradient g: it is 0 where this (relu's) is not > 0
  const void* norm_x = nullptr;     ///< g is that of a norm's output: this is its input,
  const Normal* normals = nullptr;  ///< [peer][channel],
  int norm_relu = 0;                ///< and g is 0 where what follows from these is not > 0
  int relu = 0;
  int chunks = 1;    ///< of channels
  int resident = 0;  ///< all chunks of weights fit, and are loaded once per block (TMA kernels)
};
static_assert(
    std::has_unique_object_representations_v<ConvLaunch>);  // the launch recorder compares bytes

/// The weight gradient, in partial sums: grid (groups of weights, splits, peers).
struct WeightLaunch {
  ConvGeometry geometry;  ///< of the forward convolution, maybe by columns
  const void* x = nullptr;
  const void* grad_output = nullptr;  ///< with respect to y
  long x_stride = 0, y_stride = 0;
  float* partial = nullptr;          ///< [peer][split][group][warp][fragment][lane][4]
  float* bias = nullptr;             ///< [peer][split][out_c], or null
  float* const* gradient = nullptr;  ///< [peer]: where the sums go in the end,
  long weight_at = 0, bias_at = 0;   ///< from here on
  int splits = 1;  ///< groups of tiles; with one, sums may be stored there directly
  int in_groups = 1, tap_groups = 1;
  int sums_ones = 0;  ///< the geometry is by columns, and behind them comes one for the bias
};
static_assert(std::has_unique_object_representations_v<WeightLaunch>);

inline constexpr int kAddThreads = 256;

/// Shared memory for a patch that TMA copies: a multiple of 1024 bytes, after which its swizzle
/// repeats.
constexpr int tma_padded(int bytes) { return (bytes + 1023) / 1024 * 1024; }

/// One way to compute a convolution: a block makes tiles of `pixels` x `out` values, reading
/// `bytes` of channels at a time.
struct ConvKernel {
  using Launch = void (*)(ConvLaunch);
  using TmaLaunch = void (*)(CUtensorMap, ConvLaunch);
  /// Two each: forward, and for the gradient with respect to the input.
  Launch any[2] = {};         ///< for kernels of any size, or null
  Launch of_3x3[2] = {};      ///< or null
  TmaLaunch tma_3x3[2] = {};  ///< or null; for input of whole chunks (sm_90 on)
  int threads, pixels, out, bytes, pitch, stages;
  int strip_height;  ///< of strips 8 pixels wide that must divide a tile; 0: there are none
  bool quarters;     ///< for has_quarters only; there is no forward kernel then
  int epilogue[2];   ///< bytes of shared memory
  bool whole;        ///< input channels must fill pieces of 16 bytes

  bool uses_tma() const { return tma_3x3[1] != nullptr; }
  Launch launch(const ConvGeometry& g, bool backward) const {
    return g.kernel == 3 && of_3x3[0] != nullptr ? of_3x3[backward] : any[backward];
  }
  /// g: with tiles of this kernel.
  bool takes(const ConvGeometry& g) const {
    if (!uses_tma()) return launch(g, false) != nullptr;
    if (quarters) return has_quarters(g);
    if (g.kernel != 3 || g.dilation != 1) return false;
    if (strip_height == 0) return true;
    return g.stride == 1 && g.tile_w % 8 == 0 && g.tile_h % strip_height == 0;
  }
  int weight_bytes(const ConvGeometry& g) const { return g.taps * out * pitch; }
  int shared_bytes(const ConvGeometry& g, int chunks, bool resident, bool backward) const {
    if (!uses_tma()) {
      return (chunks > 1 ? stages : 1) * (weight_bytes(g) + g.patch_positions() * pitch) +
             epilogue[backward];
    }
    return (resident ? chunks : stages) * weight_bytes(g) +
           stages * (tma_padded(g.patch_positions() * bytes) + 8) + epilogue[backward];
  }
};

/// One way to compute the gradient of weights: a block has `out` x `in` channels and `taps`.
struct WeightKernel {
  void (*launch)(WeightLaunch);  ///< null: the geometry is by columns, and TMA copies it
  using TmaLaunch = void (*)(CUtensorMap grad_output, CUtensorMap x, WeightLaunch);
  TmaLaunch tma;              ///< or null; channels in sixteens
  TmaLaunch strips[2];        ///< or null; for 3 x 3, stride 1, and tiles of whole or half strips
  void (*add)(WeightLaunch);  ///< grid (shares, groups, peers)
  void (*add_many)(WeightLaunch);  ///< grid (floats / 128, groups, peers)
  int threads, pixels, out, in, taps;
  int stages;   ///< of what TMA copies
  int shares;   ///< of a group's weights, one per warp
  bool direct;  ///< one split needs no `add`
  int out_pitch, in_pitch, sum_bytes;
  int box_bytes;  ///< of 16 channels
  int strip_width, strip_height;
  bool whole;

  int floats() const { return out * in * taps; }
  bool has_columns() const { return launch == nullptr; }
  TmaLaunch tma_for(const ConvGeometry& g) const {
    if (g.kernel == 3 && g.stride == 1 && g.tile_w % strip_width == 0) {
      if (strips[0] != nullptr && g.tile_h % strip_height == 0) return strips[0];
      if (strips[1] != nullptr && g.tile_h % (strip_height / 2) == 0) return strips[1];
    }
    return tma;
  }
  int shared_bytes(const ConvGeometry& g) const {
    const int tiles = pixels * 4 + 2 * (pixels * out_pitch + g.patch_positions() * in_pitch);
    return tiles > sum_bytes ? tiles : sum_bytes;
  }
  int tma_shared_bytes(const ConvGeometry& g) const {
    const int patch = has_columns()
                          ? tma_padded(g.tile_i * g.patch_h * patch_row_bytes(g, box_bytes / 16))
                          : in / 16 * tma_padded(g.patch_positions() * box_bytes);
    const int tiles = stages * (out / 16 * tma_padded(pixels * box_bytes) + patch);
    return (tiles > sum_bytes ? tiles : sum_bytes) + pixels * 4 + stages * 8;
  }
};

// One file per precision: they take long to compile.
std::span<const ConvKernel> conv_kernels_tf32();
std::span<const ConvKernel> conv_kernels_fp32();
std::span<const ConvKernel> conv_kernels_bf16();
std::span<const WeightKernel> weight_kernels_tf32();
std::span<const WeightKernel> weight_kernels_fp32();
std::span<const WeightKernel> weight_kernels_bf16();

}  // namespace hearsay::engine::cuda
