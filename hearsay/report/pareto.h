#pragma once

#include <span>
#include <vector>

namespace hearsay::report {

/// The Pareto-optimal points: no other point has at least as large x and y, and one of them larger.
/// Larger is better. Points that are not finite are never on the front. Of equal points all are.
///
/// x is not negative; two x of which the greater is at most 1 + `same` times the other count as
/// equal: a point with a better y at 0.04 % more bytes dominates the other.
///
/// Returns indices, x ascending and so y descending. O(n log n).
std::vector<std::size_t> pareto_front(std::span<const double> x, std::span<const double> y,
                                      double same = 0);

}  // namespace hearsay::report
