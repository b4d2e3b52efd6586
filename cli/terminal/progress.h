#pragma once

#include <memory>
#include <string>

#include "hearsay/run/run.h"

namespace hearsay::cli {

/// What a run shows on standard output during training. It stops on a signal (stop.h).
struct ProgressStyle {
  bool lines = false;  ///< a description, then one line per evaluation
  bool cut = true;     ///< on a terminal, shorten lines to its width
  /// On a terminal, below them and redrawn in place: progress, rounds/s, time left; the results of
  /// the last evaluation and the bytes so far; one line per peer for up to 8 peers. Elsewhere
  /// nothing.
  bool block = false;
  std::string label = {};  ///< prefix of every line, for concurrent runs
};

class Progress : public run::Observer {
 public:
  /// Prints a separate line on standard error, without disturbing the block.
  virtual void say(const std::string& text) = 0;
};

std::unique_ptr<Progress> make_progress(ProgressStyle style);

}  // namespace hearsay::cli
