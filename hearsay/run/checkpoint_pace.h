#pragma once

#include <chrono>

namespace hearsay::run {

/// When to save next where nobody said how often: whenever it is asked, but if saving takes long,
/// not before ten times as long has passed since. So checkpoints take at most a tenth of a run, and
/// what a crash can lose is small beside what was trained.
class CheckpointPace {
 public:
  using Clock = std::chrono::steady_clock;

  bool due(Clock::time_point now) const { return took_ < kShort || now - end_ >= 10 * took_; }

  void saved(Clock::time_point begin, Clock::time_point end) {
    took_ = end - begin;
    end_ = end;
  }

 private:
  static constexpr std::chrono::milliseconds kShort{100};
  Clock::duration took_{};
  Clock::time_point end_{};
};

}  // namespace hearsay::run
