#pragma once

#include <algorithm>
#include <chrono>

namespace hearsay::live {

/// Rate limiter (token bucket): so many per second on average, and `burst` at once after an idle
/// time. It bounds the work per second for any number of viewers.
class Turnstile {
 public:
  using Clock = std::chrono::steady_clock;

  Turnstile(double per_second, double burst) : rate_(per_second), burst_(burst), free_(burst) {}

  /// One arrives, at `now`; returns how long it has to wait first. Times do not decrease.
  std::chrono::duration<double> pass(Clock::time_point now) {
    const std::chrono::duration<double> since = now - last_;
    free_ = std::min(burst_, free_ + rate_ * since.count()) - 1;
    last_ = now;
    return std::chrono::duration<double>(std::max(0.0, -free_ / rate_));
  }

 private:
  double rate_, burst_;
  double free_;  ///< how many could pass at once; negative: how many are waiting
  Clock::time_point last_{};
};

}  // namespace hearsay::live
