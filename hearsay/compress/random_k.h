#pragma once

#include <memory>

#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

inline constexpr Parameter kRandomKParameters[] = {
    {"keep", "0.01", "(0, 1]", "fraction of the model's entries that is sent, at least one"},
    {"scale", "0", "0|1", "1: multiply by d/k, which makes it unbiased"},
};

/// Random-k: k = max(1, floor(keep d)) of the d entries, drawn without replacement; others are 0.
///
/// scale=0: contractive, E |x - C(x)|^2 = (1 - k/d) |x|^2.
/// scale=1: C(x) = d/k times that; unbiased with omega = d/k - 1, so 1 / (1 + omega) = k/d.
/// The receiver does not know the stream, so the indices are sent. A non-finite entry is sent with
/// probability k/d.
std::unique_ptr<Compressor> make_random_k(const Arguments& arguments);

/// Append k of the numbers below n to `out`, ascending; every set of k is equally likely.
void draw_subset(std::size_t n, std::size_t k, Random random, std::vector<std::uint32_t>& out);

}  // namespace hearsay::compress
