#include "hearsay/sweep/dispatch/time_left.h"

#include <algorithm>
#include <limits>

namespace hearsay::sweep {

namespace {

double work_of(const SweepRun& run) {
  const auto length = static_cast<double>(std::max(run.config.epochs, run.config.rounds));
  return length * static_cast<double>(run.config.peers);
}

}  // namespace

TimeLeft::TimeLeft(std::span<const SweepRun> runs) {
  for (const SweepRun& run : runs) {
    if (state_of(run) == RunState::kFinished) continue;
    const double part = before_[&run] = fraction_done(run);
    left_ += (1 - part) * work_of(run);
  }
}

void TimeLeft::began(const SweepRun& run) {
  running_.insert(&run);
  left_ -= (1 - before_[&run]) * work_of(run);
}

void TimeLeft::ended(const SweepRun& run, RunEnd::How how) {
  const bool was_running = running_.erase(&run) > 0;
  const auto before = before_.find(&run);
  if (before == before_.end()) return;  // finished from the beginning
  const double work = (1 - before->second) * work_of(run);
  if (how == RunEnd::How::kFinished) {
    if (was_running) {
      done_ += work;
    } else {
      left_ -= work;  // another process did it
    }
    before_.erase(before);
  } else if (how != RunEnd::How::kFailed && was_running) {
    before->second = fraction_done(run);
    left_ += (1 - before->second) * work_of(run);
  }
}

double TimeLeft::seconds() const {
  double left = left_, done = done_;
  for (const SweepRun* run : running_) {
    const double before = before_.at(run);
    const double part = std::max(fraction_done(*run), before);
    left += (1 - part) * work_of(*run);
    done += (part - before) * work_of(*run);
  }
  const std::chrono::duration<double> since = Clock::now() - begin_;
  return done > 0 ? since.count() * left / done : std::numeric_limits<double>::infinity();
}

}  // namespace hearsay::sweep
