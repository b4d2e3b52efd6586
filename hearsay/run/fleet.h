#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearsay/run/run.h"
#include "hearsay/train/run_options.h"

namespace hearsay::run {

/// One of several runs.
struct FleetRun {
  train::RunOptions config;  ///< resolved
  std::filesystem::path out;
  Observer* observer;
};

/// How it ended: an outcome, or the error that made it fail.
struct FleetOutcome {
  std::optional<Outcome> outcome;
  std::string error;
};

/// Several runs in parallel on one device, as one larger bank of runs x peers: a round of all of
/// them is one call for all gradients, then the second halves of their rounds on separate streams.
/// A GPU that one run does not fill does the work of several in little more time.
///
/// Each run behaves as if alone: rounds, evaluations, checkpoints, stops; its models are bit for
/// bit those of `run`. A failing run does not affect the others, and a finished one leaves the
/// fleet. The device and the threads are those of the first run; `seconds` counts the rounds of
/// all.
///
/// Throws as `run` does if any of them cannot begin, and then none has: nothing is written before
/// all are checked. A run whose directory another process takes in that moment fails alone.
std::vector<FleetOutcome> run_fleet(std::span<const FleetRun> runs);

/// Groups runs for fleets: indices of `configs` (resolved), each once, in groups of at most `most`.
/// Runs of a group are on the same GPU in the same precision and agree in the settings that
/// determine the shape of the gradient computation: model, data, validation, augment and batch. On
/// the CPU, whose cores one run fills, every run is a group of its own.
std::vector<std::vector<std::size_t>> fleets_of(std::span<const train::RunOptions> configs,
                                                std::size_t most = 8);

}  // namespace hearsay::run
