#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearsay/run/run.h"
#include "hearsay/train/config.h"

namespace hearsay::run {

/// One of several runs.
struct FleetRun {
  train::Config config;  ///< resolved
  std::filesystem::path out;
  Observer* observer;
};

/// How it ended: an outcome, or what made it fail.
struct FleetOutcome {
  std::optional<Outcome> outcome;
  std::string error;
};

/// Several runs side by side on one device, as one larger bank of runs x peers: a round of all of
/// them is one call for all gradients, then the second halves of their rounds on lanes of their
/// own. A GPU that one run does not fill does the work of several in little more time.
///
/// Each run goes as if alone: rounds, evaluations, checkpoints, stops; its models are bit for bit
/// those of `run`. One that fails takes nothing from the others, and one that is over leaves. The
/// device and the threads are those of the first run; `seconds` counts the rounds of all.
///
/// Throws as `run` does if any of them cannot begin, and then none has: nothing is written before
/// all are checked.
std::vector<FleetOutcome> run_fleet(std::span<const FleetRun> runs);

/// Which runs to put side by side: indices of `configs` (resolved), each once, in groups of at most
/// `most`. Runs of a group are on the same GPU in the same precision and agree in what decides the
/// shape of a gradient's work: model, data, validation, augment and batch. On the CPU, whose cores
/// one run fills, every run is a group of its own.
std::vector<std::vector<std::size_t>> fleets_of(std::span<const train::Config> configs,
                                                std::size_t most = 8);

}  // namespace hearsay::run
