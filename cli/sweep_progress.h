#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>

#include "cli/terminal.h"
#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::cli {

/// What a sweep shows while it goes on: on a terminal a table of what is done, what runs and how
/// much time is left, drawn in place; elsewhere a line when a run begins and one when it ends.
class SweepProgress {
 public:
  SweepProgress(std::span<const sweep::SweepRun> runs, bool quiet);

  void began(std::size_t run, bool again);
  /// `trouble` is empty, or says what went wrong; `warning` what was said by one that finished.
  void ended(std::size_t run, const std::string& trouble, const std::string& warning = "");
  /// It has not finished, and waits for its turn.
  void put_back(std::size_t run);
  /// Its turn came, and nothing is left to do: if it was open at first, another process did it.
  void is_finished(std::size_t run);
  /// Draw again. `elsewhere`: runs that other processes train.
  void tick(std::size_t elsewhere);
  void wipe() { block_.wipe(); }

 private:
  using Clock = std::chrono::steady_clock;
  /// Work is counted in epochs or rounds of a peer.
  double work_of(std::size_t run) const;
  /// Of work that was begun and is open, by what is done so far; empty while nothing is.
  std::string time_left() const;

  const std::span<const sweep::SweepRun> runs_;
  const bool quiet_;
  std::size_t finished_ = 0, failed_ = 0;
  const Clock::time_point begin_ = Clock::now();
  std::map<std::size_t, Clock::time_point> running_;
  std::map<std::size_t, double> before_;  ///< what was done of a run when we took it up
  double work_left_ = 0, work_done_ = 0;  ///< of runs that are not running; by us
  Block block_{stdout};
};

}  // namespace hearsay::cli
