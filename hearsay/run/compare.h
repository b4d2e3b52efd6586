#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "hearsay/run/run.h"
#include "hearsay/train/config.h"

namespace hearsay::run {

/// What talking is worth, and what compression costs: the run of `config` (resolved) once more with
/// other talk, all else the same.
///
///   silence   algorithm `silent`: no peer ever hears of another
///   full      algorithm `sgp`: every float over every edge
///
/// Where the method has a momentum of its own, its controls take theirs from the optimizer:
/// nesterov with the same beta.
struct Control {
  std::string_view name;
  train::Config config;
};
std::vector<Control> controls(const train::Config& config);

/// Whether the run in `out` is to be compared: `compare = yes` in its config.toml.
bool wants_controls(const std::filesystem::path& out);

struct ControlsOutcome {
  bool finished = true;               ///< false: the observer asked to stop
  std::vector<std::string> warnings;  ///< "[compare NAME] ...": controls that failed, and why
};

/// Train the controls of the run in `out` into OUT/compare/NAME. Those that are finished stay as
/// they are, those begun go on. `threads` > 0 overrides the setting. What stops a control takes
/// nothing from the run, nor from the other control; controls of other settings are left alone.
ControlsOutcome run_controls(const std::filesystem::path& out, std::uint64_t threads,
                             Observer& observer);
ControlsOutcome run_controls(const std::filesystem::path& out, std::uint64_t threads,
                             Observer& observer, gossip::ProcessGroup& group);

}  // namespace hearsay::run
