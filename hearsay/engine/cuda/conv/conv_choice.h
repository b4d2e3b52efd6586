#pragma once

#include "hearsay/engine/cuda/conv/conv_kernels.h"
#include "hearsay/engine/cuda/step.h"

/// Which kernel computes a convolution, and in which tiles.
namespace hearsay::engine::cuda {

/// A run must have the same bits beside others as alone, so nothing that decides the order of a sum
/// may depend on how many peers there are: kernels and splits are chosen for this many.
inline constexpr int kUsualPeers = 4;

constexpr int divide_up(int n, int d) { return (n + d - 1) / d; }

struct ConvChoice {
  const ConvKernel* kernel = nullptr;  ///< null: none fits
  ConvGeometry geometry;
  int chunks = 1;  ///< of channels
  int shared_bytes = 0;
  bool resident = false;  ///< ConvLaunch
};

/// The kernel that wastes least: of the products it forms, counted with the channels and pixels
/// that only fill up fragments, and with processors that go without a block. Where a bulk kernel
/// fits, no other is taken. All of `geometry` but the tiles is given.
ConvChoice choose(const Site& site, ConvGeometry geometry, bool backward);

struct WeightChoice {
  const WeightKernel* kernel = nullptr;  ///< null: none fits
  ConvGeometry geometry;
  bool bulk = false;  ///< the tiles are copied by the hardware
};

/// The same for the gradient of the weights; the geometry is that of the forward convolution, and
/// the one chosen is by columns if the kernel has these.
WeightChoice choose_for_weights(const Site& site, ConvGeometry geometry, bool bias);

}  // namespace hearsay::engine::cuda
