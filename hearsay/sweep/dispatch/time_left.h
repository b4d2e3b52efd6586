#pragma once

#include <chrono>
#include <map>
#include <set>
#include <span>

#include "hearsay/sweep/dispatch/dispatch.h"

namespace hearsay::sweep {

/// Estimates how long a sweep will still take: work left / work done since this was made. The work
/// of a run is its epochs or rounds, times its peers. To be told what a SweepObserver is.
class TimeLeft {
 public:
  explicit TimeLeft(std::span<const SweepRun> runs);

  void began(const SweepRun& run);
  void ended(const SweepRun& run, RunEnd::How how);

  /// Infinite while nothing is done. Reads the last evaluations of running runs.
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;

  const Clock::time_point begin_ = Clock::now();
  std::map<const SweepRun*, double> before_;  ///< the part that was done when we started the run
  std::set<const SweepRun*> running_;
  double left_ = 0, done_ = 0;  ///< work of runs that are not running; done: by us
};

}  // namespace hearsay::sweep
