#pragma once

#include <memory>

#include "hearsay/engine/objectives.h"

namespace hearsay::engine {

inline constexpr Parameter kConsensusParameters[] = {
    {"dim", "10", "[1, 1000000000]", "entries of a peer's vector"},
    {"spread", "1", "[0, inf)", "standard deviation of an entry"},
};

/// Pure averaging: f_i = 0. Peer i starts at spread times its own standard normal vector, and the
/// optimum is the mean of all n initial models (of the floats, so that exact averaging reaches it
/// exactly). Construction costs O(n dim).
std::unique_ptr<Objective> make_consensus(const Arguments& arguments,
                                          const ObjectiveContext& context);

}  // namespace hearsay::engine
