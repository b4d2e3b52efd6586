#pragma once

#include <memory>

#include "hearsay/compress/compressor.h"

namespace hearsay::compress {

inline constexpr Parameter kQsgdParameters[] = {
    {"bits", "4", "[1, 16]", "b: levels are 0 .. 2^b - 1"},
    {"unbiased", "0", "0|1", "1: do not divide by tau; not for error feedback"},
};

/// QSGD: stochastic rounding to s = 2^b - 1 levels of each tensor's 2-norm. Alistarh, Grubic, Li,
/// Tomioka, Vojnovic 2017, https://arxiv.org/abs/1610.02132.
///
///   t_i = s |x_i| / |x|_2,   l_i = floor(t_i), plus 1 with probability t_i - floor(t_i)
///   Q(x)_i = sign(x_i) |x|_2 l_i / s
///
/// unbiased=1: C = Q, with omega = min(m / s^2, sqrt(m) / s) for a tensor of m entries.
/// unbiased=0: C = Q / tau, tau = 1 + omega: contractive with delta = 1 / tau, for
///   E |x - Q/tau|^2 = |x|^2 - 2 |x|^2 / tau + E |Q|^2 / tau^2 <= (1 - 1/tau) |x|^2.
/// With several tensors the worst one counts. Entry i uses word i of the stream.
///
/// Code: the norm of each non-empty tensor as f32; then for each entry b bits of level and, if the
/// level is not 0, one sign bit, 1 for minus. That is at most b + 1 bits per entry, and near b for
/// few levels: at most s (s + sqrt(m)) of m levels are non-zero in expectation (Lemma 3.1 there). A
/// tensor whose norm is not finite becomes NaN; a zero tensor stays zero.
std::unique_ptr<Compressor> make_qsgd(const Arguments& arguments);

/// tau = 1 + omega for s = `levels` and a tensor of m entries.
double qsgd_tau(double levels, std::size_t m);

}  // namespace hearsay::compress
