#pragma once

#include <span>
#include <type_traits>

#include <cuda.h>

#include "hearsay/backend/device.h"
#include "hearsay/engine/cuda/conv_geometry.h"
#include "hearsay/engine/cuda/read_norm.h"

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
  ReadNorm read{};                           ///< x is its input, to be normalised
  const void* add = nullptr;                 ///< of y's shape, maybe y itself: added to the result
  float2* sums = nullptr;  ///< [peer][tile][out_c], or null: of y and of (y - mean of the tile)^2
                           ///< or, where `norm_x` is set, of g and of g (x - mean)
  const void* norm_x = nullptr;     ///< y is the gradient g of a norm's output: this is its input,
  const void* norm_y = nullptr;     ///< its output, where that does not follow from the input,
  const Normal* normals = nullptr;  ///< [peer][channel]; g is 0 where relu let nothing through
  int norm_relu = 0;
  int relu = 0;
  int chunks = 1;    ///< of channels
  int resident = 0;  ///< all chunks of weights have room, and come once a block (bulk kernels)
};
static_assert(std::has_unique_object_representations_v<ConvLaunch>);  // as the tape compares bytes

/// The gradient with respect to the weights, in parts: grid (groups of weights, splits, peers).
struct WeightLaunch {
  ConvGeometry geometry;  ///< of the forward convolution
  const void* x = nullptr;
  const void* slope = nullptr;  ///< with respect to y
  long x_stride = 0, y_stride = 0;
  const Normal* normals = nullptr;  ///< [peer][channel] of the norm that x is the input of, or null
  float* partial = nullptr;         ///< [peer][split][group][warp][fragment][lane][4]
  float* bias = nullptr;            ///< [peer][split][out_c], or null
  int splits = 1;                   ///< groups of tiles
  int in_groups = 1, tap_groups = 1;
  int relu = 0;  ///< after the norm
};
static_assert(std::has_unique_object_representations_v<WeightLaunch>);

inline constexpr int kAddThreads = 256;

/// Room for a patch that the hardware copies: a multiple of what its permutation repeats after.
constexpr int bulk_room(int bytes) { return (bytes + 1023) / 1024 * 1024; }

/// One way to compute a convolution: a block makes tiles of `pixels` x `out` values, reading
/// `bytes` of channels at a time.
struct ConvKernel {
  void (*launch)(ConvLaunch) = nullptr;
  void (*launch_3x3)(ConvLaunch) = nullptr;  ///< the same, for kernels of 3 x 3
  void (*bulk_3x3)(CUtensorMap,
                   ConvLaunch) = nullptr;  ///< or this, for input of whole chunks (sm_90 on)
  int threads, pixels, out, bytes, pitch, stages, partial;
  bool whole;  ///< the channels must fill pieces of 16 bytes

  bool is_bulk() const { return bulk_3x3 != nullptr; }
  int weight_bytes(const ConvGeometry& g) const { return g.taps * out * pitch; }
  int shared_bytes(const ConvGeometry& g, int chunks, bool resident) const {
    const int others = partial * 8 + (out + g.in_c) * static_cast<int>(sizeof(Normal)) + stages * 8;
    if (!is_bulk()) {
      return (chunks > 1 ? stages : 1) * (weight_bytes(g) + g.patch_positions() * pitch) + others;
    }
    return (resident ? chunks : stages) * weight_bytes(g) +
           stages * bulk_room(g.patch_positions() * bytes) + others;
  }
};

/// One way to compute the gradient of weights: a block has `out` x `in` channels and `taps`.
struct WeightKernel {
  void (*launch)(WeightLaunch);
  void (*add)(WeightLaunch, float* const*, long, long);  ///< grid (shares, groups, peers)
  void (*add_many)(WeightLaunch, float* const*, long,
                   long);  ///< grid (floats / 128, groups, peers)
  int threads, pixels, out, in, taps;
  int shares;  ///< of a group's weights, one a warp
  int out_pitch, in_pitch, sum_bytes;
  bool whole;

  int floats() const { return out * in * taps; }
  int shared_bytes(const ConvGeometry& g) const {
    const int tiles = pixels * 4 + 2 * (pixels * out_pitch + g.patch_positions() * in_pitch);
    return tiles > sum_bytes ? tiles : sum_bytes;
  }
};

std::span<const ConvKernel> conv_kernels(backend::Precision precision);
std::span<const WeightKernel> weight_kernels(backend::Precision precision);

// One file a precision: they take long to compile.
std::span<const ConvKernel> conv_kernels_tf32();
std::span<const ConvKernel> conv_kernels_fp32();
std::span<const ConvKernel> conv_kernels_bf16();
std::span<const WeightKernel> weight_kernels_tf32();
std::span<const WeightKernel> weight_kernels_fp32();
std::span<const WeightKernel> weight_kernels_bf16();

}  // namespace hearsay::engine::cuda
