#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hearsay/graph/schedule.h"

namespace hearsay::graph {

/// What makes a periodic schedule go on to its next matrix.
enum class Clock { kRounds, kEpochs };

/// The matrices one after the other, each for `every` ticks of the clock, then from the start. One
/// matrix is a static graph. All must have the same number of peers; every >= 1.
///
/// period() has each matrix `every` times for a clock of rounds, if that is at most 64 matrices in
/// all; otherwise each once, and facts are then of one round of each.
std::unique_ptr<Schedule> make_periodic(std::vector<Weights> matrices, std::uint64_t every = 1,
                                        Clock clock = Clock::kRounds);

inline std::unique_ptr<Schedule> make_static(Weights weights) {
  return make_periodic({std::move(weights)});
}

}  // namespace hearsay::graph
