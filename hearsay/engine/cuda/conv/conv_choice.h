#pragma once

#include "hearsay/engine/cuda/conv/conv_kernels.h"
#include "hearsay/engine/cuda/step.h"

/// Which kernel computes a convolution, and in which tiles.
namespace hearsay::engine::cuda {

/// A run must have the same bits beside others as alone, so nothing that decides the order of a sum
/// may depend on the number of peers: kernels and splits are chosen for this many, whatever there
/// are.
inline constexpr int kUsualPeers = 4;

constexpr int divide_up(int n, int d) { return (n + d - 1) / d; }

struct ConvChoice {
  const ConvKernel* kernel = nullptr;  ///< null: none fits
  ConvGeometry geometry;
  int chunks = 1;  ///< of channels
  int shared_bytes = 0;
  bool resident = false;  ///< ConvLaunch
};

/// The kernel with the least estimated cost: products, including those of channels and pixels that
/// only pad fragments, times waves of blocks, weighted by reads of shared memory. Where a TMA
/// kernel fits, no other is taken. All of `geometry` but the tiles is given.
ConvChoice choose(const Site& site, ConvGeometry geometry, bool backward);

struct WeightChoice {
  const WeightKernel* kernel = nullptr;  ///< null: none fits
  ConvGeometry geometry;
  bool tma = false;  ///< TMA copies the tiles
};

/// The same for the gradient of the weights; the geometry is that of the forward convolution, and
/// the one chosen is by columns if the kernel has these.
WeightChoice choose_for_weights(const Site& site, ConvGeometry geometry, bool bias);

}  // namespace hearsay::engine::cuda
