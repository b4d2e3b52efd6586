#pragma once

#include <span>
#include <vector>

#include "hearsay/engine/fuse.h"

namespace hearsay::engine {

/// In which value's array the gradient of each value may be stored, in a backward pass through
/// `steps` from the last to the first: result[v] is v itself, or a value that is produced later.
///
/// The gradient of y = relu(batch norm(x) + residual) with respect to the residual is that of y
/// where relu let y through. If this step is the last to read the residual, it is the first to
/// write its gradient; and only this step reads that of y. So the two may share one array, which
/// the step leaves as it is (except for zeros where relu blocked), and to which earlier readers of
/// the residual add. A chain of residual blocks needs a single array.
///
/// The images, which have no gradient, own themselves; so does a residual that is also x, whose
/// gradient is not that of y.
std::vector<model::Value> gradient_owners(const model::Network& network,
                                          std::span<const Fused> steps);

}  // namespace hearsay::engine
