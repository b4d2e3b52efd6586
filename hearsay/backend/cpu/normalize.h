#pragma once

#include "hearsay/backend/cpu/tiles.h"

/// The vector loops of batch norm, group norm and EvoNorm over a batch of activations, serial. For
/// all norms, statistics and gradients are sums over the pixels of one channel of one sample; the
/// caller combines those few numbers (in double) and passes coefficients per channel.
///
/// Sums have one entry per sample and padded channel, [n * padded_channels + c].
namespace hearsay::backend::cpu {

/// mean = the mean over pixels of x; square = the sum of (x - mean)^2.
void moments(const float* x, const Tiles& tiles, float* mean, float* square);

/// y = scale x + offset (+ residual), then max(., 0) if `relu`. y may be x.
void affine(const float* x, const Tiles& tiles, PerChannel scale, PerChannel offset,
            const float* residual, bool relu, float* y);

/// Backward of `affine`. g, the gradient of y, becomes g + second where y > 0 (everywhere without
/// relu), else 0; `second`, another gradient of y, may be null. sum = the sum over pixels of g,
/// product = that of g (x - centre). If `y` is null, its sign is recomputed from x, scale and
/// offset.
struct AffineOutput {
  bool relu = false;
  const float* y = nullptr;
  PerChannel scale{}, offset{};
};
void affine_sums(const float* x, const Tiles& tiles, PerChannel centre, const AffineOutput& output,
                 const float* second, float* g, float* sum, float* product);

/// dx = a g + b x + c. dx may be g.
void affine_backward(const float* g, const float* x, const Tiles& tiles, PerChannel a, PerChannel b,
                     PerChannel c, float* dx);

/// s of the EvoNorms: the logistic function, or the hard sigmoid max(0, min(1, t / 6 + 1 / 2)).
enum class Gate { kLogistic, kHard };

/// y = scale x s(v x) + offset (+ residual).
void evo(const float* x, const Tiles& tiles, Gate gate, PerChannel v, PerChannel scale,
         PerChannel offset, const float* residual, float* y);

/// With h = x s(v x): the sums over pixels of g, g h and g dh/dv.
void evo_sums(const float* x, const float* g, const Tiles& tiles, Gate gate, PerChannel v,
              float* sum, float* product, float* dv);

/// dx = a g dh/dx + b x + c. dx may be g.
void evo_backward(const float* g, const float* x, const Tiles& tiles, Gate gate, PerChannel v,
                  PerChannel a, PerChannel b, PerChannel c, float* dx);

/// Of every piece of `length` pixels of a channel (a divisor of their number), its largest and
/// smallest value and how often they occur: [(n * pieces + k) * padded_channels + c].
struct Extremes {
  float *high, *low;
  float *highs, *lows;  ///< the counts
};
void piece_extremes(const float* x, const Tiles& tiles, std::size_t length, const Extremes& found);

/// dx += highs where x = high, += lows where x = low, with those of its piece.
void add_at_extremes(const float* x, const Tiles& tiles, std::size_t length, const Extremes& given,
                     float* dx);

/// Set the padding channels of the last block to zero.
void clear_padding(float* x, const Tiles& tiles);

}  // namespace hearsay::backend::cpu
