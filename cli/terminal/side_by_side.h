#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hearsay/sweep/dispatch/dispatch.h"

namespace hearsay::cli {

struct SideBySideStyle {
  bool quiet = false;  ///< errors only
  bool wide = false;   ///< all columns of the table
  bool log = false;    ///< with an event file for TensorBoard in each run directory
};

/// Trains runs in this process and shows them: every line begins with the run's label, and a table
/// of those that began ends it.
class SideBySide : public sweep::SweepObserver {
 public:
  SideBySide(std::span<const sweep::SweepRun> runs, SideBySideStyle style);

  /// Returns the exit status: 0, kStopped, or 1 if a run failed or is trained by another process.
  int train(const sweep::DispatchOptions& options);
  const sweep::SweepOutcome& outcome() const { return outcome_; }  ///< of that

  void began(const sweep::SweepRun& run, bool resumed) override;
  void ended(const sweep::SweepRun& run, const sweep::RunEnd& end) override;
  bool stop_requested() override;
  std::unique_ptr<run::Observer> observe(const sweep::SweepRun& run) override;

 private:
  const std::span<const sweep::SweepRun> runs_;
  const SideBySideStyle style_;
  std::size_t width_ = 0;  ///< of the longest label
  std::vector<std::string> new_;
  std::set<const sweep::SweepRun*> running_;
  sweep::SweepOutcome outcome_;
};

}  // namespace hearsay::cli
