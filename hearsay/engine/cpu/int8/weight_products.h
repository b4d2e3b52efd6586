#pragma once

#include <vector>

#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/engine/cpu/int8/layer_gradient.h"

namespace hearsay::engine::cpu::int8 {

/// The weight gradients of a convolution for a chunk of samples, exact up to the last step:
///
///   dW[o][i][tap] += R float(sum over samples and pixels of x_i[pixel + tap] (256 high_o + low_o))
///
/// as products whose terms are the pixels: planes of x (one row per channel) times quads of the
/// halves, which are columns side by side. With stride 1 the planes serve all taps, each at its
/// offset; otherwise, and for images of few channels, the taps of a pixel are copied side by side
/// first, and are the channels of one product.
class WeightProducts {
 public:
  WeightProducts(const model::Conv2d& conv, const Tensor& x, const Tensor& y, const Lanes& lanes);

  /// Adds to `gradient`. `at` has the call's gradient of the output.
  void add(const Call& call, LayerGradient& at, Pieces pieces, float* gradient) const;
  /// Bytes of scratch that `add` takes.
  std::size_t bytes() const {
    Pieces pieces;
    memory(pieces);
    return pieces.bytes();
  }

 private:
  struct OfLane {
    std::int8_t *patches, *high, *low;
    std::int32_t* products;
    double* sums;  ///< integers below 2^53, exact
  };
  struct Memory {
    std::int8_t *planes, *quads;
    std::vector<OfLane> lanes;
  };
  Memory memory(Pieces& pieces) const;
  void gather_patches(std::size_t n, std::int8_t* patches) const;
  /// Writes the planes and quads of sample n.
  void pack(const LayerGradient& at, std::size_t n, const Memory& memory, const OfLane& own) const;
  /// Adds the products of the taps from `tap` on that are the rows of one product.
  void multiply(const Call& call, std::size_t tap, const Memory& memory, const OfLane& own,
                float unit, float* gradient) const;

  model::Conv2d conv_;
  const Tensor& x_;
  const Tensor& y_;
  Lanes lanes_;
  bool copies_;        ///< taps side by side
  std::size_t taps_;   ///< of a product
  std::size_t pitch_;  ///< pixels between the rows of the halves
  std::size_t terms_;  ///< pixels of a sample
  std::size_t rows_;   ///< of the planes of a sample: channels, or taps and channels
  std::size_t plane_;  ///< bytes of a row of planes
};

}  // namespace hearsay::engine::cpu::int8
