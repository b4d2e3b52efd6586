#pragma once

#include <chrono>

namespace hearsay::run {

/// When to save next if no interval was given: not before ten times the duration of the last save
/// has passed, and one second at first. So checkpoints take at most a tenth of a run, and a crash
/// loses little compared to what was trained.
class CheckpointPace {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CheckpointPace(Clock::time_point start = Clock::now()) : end_(start) {}

  bool due(Clock::time_point now) const { return now - end_ >= 10 * took_; }

  void saved(Clock::time_point begin, Clock::time_point end) {
    took_ = end - begin;
    end_ = end;
  }

 private:
  Clock::duration took_ = std::chrono::milliseconds(100);
  Clock::time_point end_;
};

}  // namespace hearsay::run
