#pragma once

#include <memory>

#include "hearsay/algorithm/robust/aggregation.h"

/// What makes the rules of the registry; each file says what its rule does.
namespace hearsay::algorithm {

std::unique_ptr<Aggregation> make_clip(const Arguments& arguments,
                                       const AggregationContext& context);
std::unique_ptr<Aggregation> make_trimmed_mean(const Arguments& arguments,
                                               const AggregationContext& context);

}  // namespace hearsay::algorithm
