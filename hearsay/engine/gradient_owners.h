#pragma once

#include <span>
#include <vector>

#include "hearsay/engine/fuse.h"

namespace hearsay::engine {

/// In whose array the gradient of each value may lie, in a backward pass that goes through `steps`
/// from the last to the first: result[v] is v itself, or a value that is made later.
///
/// The gradient of y = relu(batch norm(x) + residual) with respect to the residual is that of y
/// where relu let y through. If this step is the last to read the residual, it is the first to give
/// it a gradient; and nobody but this step reads that of y. So the two may share one array, in
/// which the step leaves what it finds (less what relu stopped), and to which earlier readers of
/// the residual add. A chain of residual blocks has one array in all.
///
/// The images, which have no gradient, own themselves; so does a residual that is also x, whose
/// gradient is not that of y.
std::vector<model::Value> gradient_owners(const model::Network& network,
                                          std::span<const Fused> steps);

}  // namespace hearsay::engine
