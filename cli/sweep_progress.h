#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>

#include "cli/terminal.h"
#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::cli {

/// What a sweep shows while it runs: on a terminal a table of what is done, what is running and how
/// much time is left, redrawn in place; elsewhere a line when a run begins and one when it ends.
class SweepProgress {
 public:
  SweepProgress(std::span<const sweep::SweepRun> runs, bool quiet);

  void began(std::size_t run, bool again);
  /// `trouble` is empty, or says what went wrong; `warning` is the message of a run that finished.
  void ended(std::size_t run, const std::string& trouble, const std::string& warning = "");
  /// The run has not finished, and is queued again.
  void put_back(std::size_t run);
  /// The run turned out to be finished: if it was open at first, another process has finished it.
  void is_finished(std::size_t run);
  /// Redraws. `elsewhere`: the number of runs that other processes train.
  void tick(std::size_t elsewhere);
  void wipe() { block_.wipe(); }

 private:
  using Clock = std::chrono::steady_clock;
  /// Work is counted in epochs or rounds per peer.
  double work_of(std::size_t run) const;
  /// Estimate for running and open work, from what is done so far; empty while nothing is.
  std::string time_left() const;

  const std::span<const sweep::SweepRun> runs_;
  const bool quiet_;
  std::size_t finished_ = 0, failed_ = 0;
  const Clock::time_point begin_ = Clock::now();
  std::map<std::size_t, Clock::time_point> running_;
  std::map<std::size_t, double> before_;  ///< work already done when we started the run
  double work_left_ = 0, work_done_ = 0;  ///< of runs that are not running; done by us
  Block block_{stdout};
};

}  // namespace hearsay::cli
