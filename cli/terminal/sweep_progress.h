#pragma once

#include <chrono>
#include <map>
#include <set>
#include <span>
#include <string>

#include "cli/terminal/terminal.h"
#include "hearsay/sweep/dispatch/time_left.h"

namespace hearsay::cli {

/// What a sweep whose runs are in processes of their own shows: on a terminal a table of what is
/// done, what is running and how much time is left, redrawn in place; elsewhere a line when a run
/// begins and one when it ends.
class SweepProgress : public sweep::SweepObserver {
 public:
  SweepProgress(std::span<const sweep::SweepRun> runs, bool quiet);

  void began(const sweep::SweepRun& run, bool resumed) override;
  void ended(const sweep::SweepRun& run, const sweep::RunEnd& end) override;
  void waiting(std::size_t elsewhere) override;
  bool stop_requested() override;
  void wipe() { block_.wipe(); }

 private:
  using Clock = std::chrono::steady_clock;
  void print_done(const sweep::SweepRun& run, const std::string& remark);
  std::string time_left() const;  ///< "about 2 min left", or empty

  const std::span<const sweep::SweepRun> runs_;
  const bool quiet_;
  std::set<const sweep::SweepRun*> finished_;
  std::size_t failed_ = 0;
  std::map<const sweep::SweepRun*, Clock::time_point> running_;
  sweep::TimeLeft left_;
  Block block_{stdout};
};

}  // namespace hearsay::cli
