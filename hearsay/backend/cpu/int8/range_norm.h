#pragma once

#include "hearsay/backend/cpu/int8/loops.h"

/// The vector loops of Range EvoNorm with a hard gate (model/operation.h) on the codes q of one
/// sample, x = s q. Arrays have an entry per channel; with n = (v s) / 6:
///
///   t = clamp(n q + 1/2, 0, 1),   inside: 0 <= n q + 1/2 <= 1
namespace hearsay::backend::cpu {

/// y = (a q) t + bias (+ residual_scale residual). Returns the magnitude of y.
float gate_forward(Image<const std::int8_t> q, const ImageSize& size, const float* n,
                   const float* a, const float* bias, Image<const std::int8_t> residual,
                   float residual_scale, Image<float> y);

/// The sums over pixels of g, g (q t) and, inside, (g q) q. In float along a row of pixels, rows in
/// double.
void gate_sums(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
               const float* n, double* sum, double* product, double* square);

/// d = (a g) (t + n q), the latter inside only. d may be g.
void gate_backward(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
                   const float* n, const float* a, Image<float> d);

/// Of every piece of `length` consecutive pixels (a divisor of their number) of a channel, its
/// largest and smallest code and how often they occur: [piece * channels + c].
struct CodeExtremes {
  std::int8_t *high, *low;
  std::int32_t *highs, *lows;
};
void find_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                   const CodeExtremes& found);

/// d += highs where q = high, += lows where q = low, with those of its piece.
struct CodeShares {
  const std::int8_t *high, *low;
  const float *highs, *lows;
};
void add_at_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                     const CodeShares& shares, Image<float> d);

}  // namespace hearsay::backend::cpu
