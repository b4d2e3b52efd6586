#include "hearsay/peer/pace.h"

#include <algorithm>

namespace hearsay::peer {

namespace {

constexpr double kMemory = 10;              ///< rounds
constexpr std::uint64_t kFewIntervals = 3;  ///< too few to go by
constexpr double kDrawnSeconds = 30;
constexpr double kPause = 4;  ///< intervals; whatever is longer was no training: a suspended device

}  // namespace

void Pace::round(const Members& members, double now) {
  const bool known = intervals_ >= kFewIntervals;
  double elapsed = last_ ? now - *last_ : 0;
  if (known) elapsed = std::min(elapsed, kPause * interval_);
  if (elapsed > 0) {
    ++intervals_;
    const double weight = 1 / std::min(kMemory, static_cast<double>(intervals_));
    interval_ += weight * (elapsed - interval_);
  }
  last_ = now;
  const double rate = known ? mean_rate(members, now) : 0;
  const double advanced = clock_ + (known ? rate * elapsed : 1);
  const double drawn = std::min(1.0, elapsed / kDrawnSeconds);
  clock_ =
      std::max(clock_, advanced + drawn * (mean_clock(members, now, advanced, rate) - advanced));
}

double Pace::scale(const Members& members, double now) const {
  if (intervals_ < kFewIntervals) return 1;
  return std::clamp(mean_rate(members, now) / rate(), 1 / kMostScale, kMostScale);
}

double Pace::mean_rate(const Members& members, double now) const {
  double sum = rate();
  double count = 1;
  for (const std::uint32_t peer : members.live(now)) {
    const double rate = members.record(peer).rate;
    if (peer == members.self() || !(rate > 0)) continue;
    sum += rate;
    ++count;
  }
  return sum / count;
}

double Pace::mean_clock(const Members& members, double now, double own, double rate) const {
  double sum = own;
  double count = 1;
  for (const std::uint32_t peer : members.live(now)) {
    // Of who has only said hello, the clock is not known.
    if (peer == members.self() || members.record(peer).beat == 0) continue;
    sum += static_cast<double>(members.record(peer).clock) + rate * members.age(peer, now);
    ++count;
  }
  return sum / count;
}

}  // namespace hearsay::peer
