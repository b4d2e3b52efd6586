#pragma once

#include <span>
#include <vector>

namespace hearsay::report {

/// Which points of a curve to draw when there are more than can be seen.
///
/// The range of x is divided into stretches twice: half of them equally wide, for a linear axis,
/// and half equally wide in log(x), for a logarithmic one. Of each stretch these points are kept:
/// the first, the last, the lowest and the highest, and one that is not finite if there is any (a
/// gap in the curve). So a single-point spike is never lost, and on an axis with as many pixels as
/// stretches the drawing is identical to one of all points ("M4": Jugel et al., VLDB 2014).
///
/// x ascends, y is as long. Returns indices, ascending: at most 5 * stretches, which is at least 2.
/// All of them if there are no more than 4 * stretches points.
std::vector<std::size_t> sample(std::span<const double> x, std::span<const double> y,
                                std::size_t stretches);

}  // namespace hearsay::report
