#pragma once

#include <span>

namespace hearsay::algorithm {

/// |x/u - y/v|, in doubles. Not finite if an entry of x or y is not.
double model_distance(std::span<const float> x, double u, std::span<const float> y, double v);

}  // namespace hearsay::algorithm
