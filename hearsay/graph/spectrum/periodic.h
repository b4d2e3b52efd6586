#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hearsay/graph/schedule.h"

namespace hearsay::graph {

/// What advances a periodic schedule to its next matrix.
enum class Clock { kRounds, kEpochs };

/// Cycles through the matrices, each for `every` ticks of the clock. One matrix is a static graph.
/// All must have the same number of peers; every >= 1.
///
/// If the clock counts rounds, period() has each matrix `every` times, unless that exceeds 64
/// matrices in total; otherwise each once, and properties are then those of one round of each.
std::unique_ptr<Schedule> make_periodic(std::vector<Weights> matrices, std::uint64_t every = 1,
                                        Clock clock = Clock::kRounds);

inline std::unique_ptr<Schedule> make_static(Weights weights) {
  return make_periodic({std::move(weights)});
}

}  // namespace hearsay::graph
