#pragma once

#include <memory>

#include "hearsay/engine/objective.h"
#include "hearsay/gossip/learning_rate.h"
#include "hearsay/gossip/machine.h"
#include "hearsay/gossip/round_driver.h"
#include "hearsay/train/run_options.h"
#include "hearsay/train/run_parts.h"

/// What a bank of a run is made of, from its options (resolved) or from its caller's parts.
namespace hearsay::train {

/// Throws InvalidArgument.
std::unique_ptr<graph::Schedule> make_schedule(const RunOptions& config, const RunParts& parts);

/// The objective of this process's share of `peers` peers. Throws InvalidArgument.
std::unique_ptr<engine::Objective> make_objective(const RunOptions& config, const RunParts& parts,
                                                  std::size_t peers, gossip::Machine& machine);

/// Whether a rate is the same in all epochs.
bool is_constant(const gossip::LearningRate& rate);

/// The parts of a driver but for its schedule and initial models.
gossip::DriverParts make_driver_parts(const RunOptions& config, const RunParts& parts,
                                      const engine::Objective& objective,
                                      const gossip::LearningRate& rate);

}  // namespace hearsay::train
