#pragma once

#include <memory>

#include "hearsay/train/run.h"

namespace hearsay::cli {

/// What a run shows while it goes on: nothing if quiet, a bar on a terminal, plain lines otherwise.
std::unique_ptr<train::Observer> make_progress(bool quiet, bool terminal);

}  // namespace hearsay::cli
