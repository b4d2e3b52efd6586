#pragma once

#include <functional>
#include <string>

#include "hearsay/graph/weights.h"

namespace hearsay::report {

/// The edges of W as an <svg class="matrix"> element: a row per sender, a column per receiver, a
/// cell per edge, which is the darker the larger its amount. For graphs of too many peers to follow
/// lines. `most` is the amount of the darkest cell; without amounts all are alike. `title` is for
/// screen readers.
std::string matrix(const graph::Weights& weights, const std::string& title,
                   const std::function<double(const graph::Edge&)>& amount = {}, double most = 0);

}  // namespace hearsay::report
