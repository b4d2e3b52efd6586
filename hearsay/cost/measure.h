#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hearsay/backend/precision.h"
#include "hearsay/cost/cost_table.h"
#include "hearsay/model/network.h"

namespace hearsay::cost {

/// Seconds since any fixed point, ascending.
using Clock = std::function<double()>;

/// What one peer's gradient takes on this processor, in one thread, on random images.
struct Measured {
  double arena_bytes = 0;         ///< activations and scratch of the compiled network
  double resident_bytes = 0;      ///< memory that the process got for it: arena, model, gradient
  double step_seconds = 0;        ///< a gradient of the batch, the median of `steps`
  double evaluation_seconds = 0;  ///< the outputs of the batch, likewise
  std::size_t steps = 0;
};

/// Compiles the network for the batch and runs it: once to warm up, then for about half a second
/// for each of the two, at least 3 and at most 100 times. Resident bytes are anonymous pages, so
/// without code, and are wrong if another thread allocates meanwhile. Throws InvalidArgument: 8
/// bits cannot train the network, the precision is of GPUs only, or by count (cost.h) it needs more
/// than 8 GB.
Measured measure(const model::Network& network, std::uint64_t batch, backend::Precision precision,
                 const Clock& clock);

/// Counted beside measured for one peer of the request, in fp32 and, if 8 bits can train the
/// network, in int8; otherwise why they cannot. Throws InvalidArgument.
std::string measured_table(const CostRequest& request, const Clock& clock);

}  // namespace hearsay::cost
