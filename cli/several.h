#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "cli/terminal/side_by_side.h"
#include "hearsay/train/run_options.h"

namespace hearsay::cli {

struct NamedConfig {
  std::string name;          ///< of the file, without its folder and extension
  train::RunOptions config;  ///< resolved
};

/// Trains all of them, in fleets (run/fleet.h) one after another. Run directories are OUT/NAME; if
/// `out` is empty, the free ones of runs/001, runs/002, ... Returns the exit status: 0, kStopped,
/// or 1 if a run failed, which does not affect the others. Quiet, it prints the directories of
/// those that began, a line each, and nothing else.
int train_several(std::span<const NamedConfig> configs, const std::filesystem::path& out,
                  SideBySideStyle style);

}  // namespace hearsay::cli
