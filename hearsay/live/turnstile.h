#pragma once

#include <algorithm>
#include <chrono>

namespace hearsay::live {

/// Lets so many a second through on average, and `burst` at once after a rest: what viewers can
/// make the server do in a second is bounded, however many they are.
class Turnstile {
 public:
  using Clock = std::chrono::steady_clock;

  Turnstile(double per_second, double burst) : rate_(per_second), burst_(burst), free_(burst) {}

  /// One passes, at `now`; returns how long it has to wait first. Times do not decrease.
  std::chrono::duration<double> pass(Clock::time_point now) {
    const std::chrono::duration<double> since = now - last_;
    free_ = std::min(burst_, free_ + rate_ * since.count()) - 1;
    last_ = now;
    return std::chrono::duration<double>(std::max(0.0, -free_ / rate_));
  }

 private:
  double rate_, burst_;
  double free_;  ///< that could pass at once; less than 0: so many are waiting
  Clock::time_point last_{};
};

}  // namespace hearsay::live
