#pragma once

#include "hearsay/backend/cpu/int8/loops.h"

/// The vector loops of Range EvoNorm with a hard gate (model/operation.h) on the codes q of one
/// sample, x = s q. Arrays have an entry per channel; with n = (v s) / 6:
///
///   t = clamp(n q + 1/2, 0, 1),   inside: 0 <= n q + 1/2 <= 1
namespace hearsay::backend::cpu {

/// What the forward pass reads: codes q of x, and those of the residual, if there is one.
///
///   y = (a q) t + bias (+ residual_scale residual)
struct GateInput {
  Image<const std::int8_t> q;
  ImageSize size;
  const float *n = nullptr, *a = nullptr, *bias = nullptr;
  Image<const std::int8_t> residual{};
  float residual_scale = 0;
};

/// The magnitude of y; and, when that is known, Q8 of y with its factor (engine::factor_of). Y is
/// computed twice, which is quicker than a visit to memory.
float gate_magnitude(const GateInput& input);
void gate_codes(const GateInput& input, float factor, Image<std::int8_t> codes);

/// The sums over pixels of g, g (q t) and, inside, (g q) q. In float along a row of pixels, rows in
/// double.
void gate_sums(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
               const float* n, double* sum, double* product, double* square);

/// The extremes of every piece of `length` consecutive pixels (a divisor of their number) of a
/// channel: [piece * channels + c].
void find_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                   std::int8_t* high, std::int8_t* low);

/// How often these occur in their pieces.
void count_extremes(Image<const std::int8_t> q, const ImageSize& size, std::size_t length,
                    const std::int8_t* high, const std::int8_t* low, std::int32_t* highs,
                    std::int32_t* lows);

/// What is added to the gradient where q = high, and where q = low, of its piece.
struct ExtremeShares {
  std::size_t length = 0;  ///< of a piece
  const std::int8_t *high = nullptr, *low = nullptr;
  const float *at_high = nullptr, *at_low = nullptr;
};

/// d = (a g) (t + n q) + shares, n q inside only. d may be g.
void gate_backward(Image<const std::int8_t> q, Image<const float> g, const ImageSize& size,
                   const float* n, const float* a, const ExtremeShares& shares, Image<float> d);

}  // namespace hearsay::backend::cpu
