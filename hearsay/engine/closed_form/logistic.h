#pragma once

#include <memory>

#include "hearsay/engine/objectives.h"

namespace hearsay::engine {

inline constexpr Parameter kLogisticParameters[] = {
    {"dim", "10", "[1, 2000]", "entries of the model"},
    {"samples", "50", "[1, 1000000]", "M: samples of a peer"},
    {"heterogeneity", "0.1", "[0, inf)", "b^2: how far the peers' gradients are apart at x*"},
    {"noise", "0", "[0, inf)", "sigma^2: mean squared norm of the added gradient noise"},
    {"l2", "0.01", "[0, inf)", "strength of the l2 term; above 0 the problem is strongly convex"},
    {"batch", "0", "[0, 1000000]", "samples per round; 0: all of them"},
};

/// Binary logistic regression:
///
///   f_i(x) = (1/M) sum_m ln(1 + exp(-y_im h_im' x)) + (l2 / 2) |x|^2 + t_i' x
///
/// All peers' samples have the same distribution: h standard normal, y = 1 with probability 1 / (1
/// + exp(-h' v)), else -1, with v a random vector of length 2 that all share. Only the tilts t_i
/// make peers differ, in a controlled way. They sum to zero, so the mean problem, and x*, are those
/// of plain logistic regression on all n M samples; and they are such that grad f_i(x*) is a random
/// vector, sum over peers zero, with (1/n) sum_i |grad f_i(x*)|^2 = `heterogeneity` exactly. So at
/// 0 (and for one peer) every peer's own optimum is x*, although their samples differ.
///
/// With `batch` > 0 the sum over m is over a minibatch: gradient noise by sampling, besides
/// `noise`. x* is found by Newton's method in double. Memory is n M dim floats, and an evaluation
/// reads all of them. Throws InvalidArgument if l2 = 0 and a plane separates the samples: there is
/// no optimum.
std::unique_ptr<Objective> make_logistic(const Arguments& arguments,
                                         const ObjectiveContext& context);

}  // namespace hearsay::engine
