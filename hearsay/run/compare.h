#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "hearsay/run/run.h"
#include "hearsay/train/run_options.h"

namespace hearsay::run {

/// The baselines that show the benefit of communication and the cost of compression: the run of
/// `config` (resolved) with another algorithm, all else the same.
///
///   name      label
///   silence   no communication   algorithm `silent`
///   full      uncompressed       algorithm `sgp`: every float over every edge
///
/// If the method has its own momentum, its baselines use that of the optimizer: nesterov with the
/// same beta.
struct Control {
  std::string_view name;   ///< of its directory
  std::string_view label;  ///< as tables and charts show it
  train::RunOptions config;
};
std::vector<Control> controls(const train::RunOptions& config);

/// Whether to train the baselines of the run in `out`: `compare = yes` in its config.toml.
bool wants_controls(const std::filesystem::path& out);

struct ControlsOutcome {
  bool finished = true;               ///< false: the observer asked to stop
  std::vector<std::string> warnings;  ///< "[compare NAME] ...": baselines that failed, and why
};

/// Train the baselines of the run in `out` into OUT/compare/NAME. Finished ones are kept,
/// interrupted ones are resumed. `threads` > 0 overrides the setting. The failure of a baseline
/// affects neither the run nor the other baseline; baselines of other settings are left alone.
ControlsOutcome run_controls(const std::filesystem::path& out, std::uint64_t threads,
                             Observer& observer);
ControlsOutcome run_controls(const std::filesystem::path& out, std::uint64_t threads,
                             Observer& observer, gossip::ProcessGroup& group);

}  // namespace hearsay::run
