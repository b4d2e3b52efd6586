#pragma once

#include <memory>

#include "hearsay/engine/objectives.h"

namespace hearsay::engine {

inline constexpr Parameter kLeastSquaresParameters[] = {
    {"dim", "10", "[1, 2000]", "unknowns"},
    {"samples", "50", "[1, 1000000]", "M: rows of a peer's A_i"},
    {"heterogeneity", "1", "[0, inf)", "b^2: how far the peers' gradients are apart at x*"},
    {"noise", "0", "[0, inf)", "sigma^2: mean squared norm of the gradient noise"},
    {"condition", "1", "[1, inf)", "condition number of the expected Hessian"},
};

/// Least squares:
///
///   f_i(x) = |A_i x - y_i|^2 / (2 M) = (x - p_i)' H_i (x - p_i) / 2,   H_i = A_i' A_i / M
///   A_i    = G_i D, G_i an M x d matrix of standard normals, D^2 = diag(1 .. 1/condition), evenly
///            spaced on a log scale, so that E H_i = D^2
///   y_i    = A_i p_i,  p_i = x0 + s e_i, with x0 and e_i standard normal vectors
///
/// x* = H^-1 mean_i(H_i p_i) with H = mean_i H_i. The gradients at x* are linear in s, which is set
/// so that (1/n) sum_i |grad f_i(x*)|^2 is `heterogeneity` exactly; at 0, and for one peer, all p_i
/// are x0 = x*, though the H_i still differ.
///
/// A gradient costs d^2 operations, memory is d^2 doubles per row of the bank; construction costs
/// O(n M d^2) and temporarily n d^2 doubles. Throws InvalidArgument if n M < d: x* would not be
/// unique.
std::unique_ptr<Objective> make_least_squares(const Arguments& arguments,
                                              const ObjectiveContext& context);

}  // namespace hearsay::engine
