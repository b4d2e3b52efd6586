#pragma once

#include <memory>
#include <string>

#include "hearsay/run/run.h"

namespace hearsay::cli {

/// What a run shows on standard output while it goes on. It stops if a signal asks (stop.h).
struct ProgressStyle {
  bool lines = false;  ///< what it is, then a line an evaluation
  bool cut = true;     ///< on a terminal, lines to its width
  /// On a terminal, below them and drawn in place: how far it is, rounds/s, time left; the figures
  /// of the last evaluation and the bytes by now; a line a peer for up to 8 peers. Elsewhere
  /// nothing.
  bool block = false;
  std::string label = {};  ///< before every line, where several runs go on at once
};

class Progress : public run::Observer {
 public:
  /// A line of its own on standard error, clear of what is drawn.
  virtual void say(const std::string& text) = 0;
};

std::unique_ptr<Progress> make_progress(ProgressStyle style);

}  // namespace hearsay::cli
