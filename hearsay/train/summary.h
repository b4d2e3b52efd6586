#pragma once

#include <string>

#include "hearsay/train/config.h"
#include "hearsay/train/metrics.h"
#include "hearsay/train/simulation.h"

namespace hearsay::train {

/// summary.json: the last evaluation, the traffic, the time, who held which classes
/// (`class_counts`, a row a peer), and what the run was: machine, seed, config and the SHA-256 of
/// the models. Names are stable; what a problem does not have is left out.
std::string summarize(const Simulation& simulation, const Config& config, const Metrics& last);

}  // namespace hearsay::train
