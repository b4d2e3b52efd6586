#pragma once

#include <memory>
#include <string>

#include "hearsay/train/run.h"

namespace hearsay::cli {

/// What a run shows while it goes on: a line an evaluation, or a bar (on a terminal), or both, or
/// nothing. It stops if a signal asks (stop.h).
struct ProgressStyle {
  bool lines = false, bar = false;
  std::string label = {};  ///< before every line, where several runs go on at once
};
std::unique_ptr<train::Observer> make_progress(ProgressStyle style);

}  // namespace hearsay::cli
