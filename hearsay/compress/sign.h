#pragma once

#include <memory>

#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

/// Scaled sign: for each tensor of m entries, C(x) = (|x|_1 / m) sign(x), with sign(0) = 1.
/// Karimireddy, Rebjock, Stich, Jaggi 2019, https://arxiv.org/abs/1901.09847.
///
/// Contractive: |x - C(x)|^2 = |x|^2 - |x|_1^2 / m <= (1 - 1/m) |x|^2; delta is 1 / the largest m.
/// Code: the scale of each non-empty tensor as f32, then one bit per entry, 1 for a minus sign.
/// A tensor with a non-finite entry becomes NaN.
std::unique_ptr<Compressor> make_sign(const Arguments& arguments);

}  // namespace hearsay::compress
