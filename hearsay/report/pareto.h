#pragma once

#include <span>
#include <vector>

namespace hearsay::report {

/// The points that no other outdoes: none has at least as much of both x and y, and more of one.
/// More is better. Points that are not finite are on no front. Of equal points all are.
///
/// x is not negative; two of which the greater is at most 1 + `same` times the other count as
/// equal: who is better at 0.04 % more bytes outdoes the other.
///
/// Returns indices, x ascending and so y descending. O(n log n).
std::vector<std::size_t> pareto_front(std::span<const double> x, std::span<const double> y,
                                      double same = 0);

}  // namespace hearsay::report
