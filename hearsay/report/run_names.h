#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearsay/train/run_options.h"

namespace hearsay::report {

/// The settings that make runs comparable: all that change results, but for the seed. Runs with the
/// same text are seeds of one setting.
std::string setting_of(const train::RunOptions& config);

/// Short names for these settings, each by what it has different from the others:
///
///   "sgp", "sparse-push keep=0.01", "sparse-push keep=0.1"
///
/// The name of the algorithm comes first, then parameters of it and of the compressor, then as few
/// others as tell all settings apart: names and parameters of specs (graph, model, data, ...), and
/// "lr=0.1" for settings that are no specs. Equal settings get equal names; if all are equal, that
/// of the algorithm.
std::vector<std::string> names_of(std::span<const train::RunOptions> configs);

}  // namespace hearsay::report
