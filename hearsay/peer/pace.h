#pragma once

#include <cstdint>
#include <optional>

#include "hearsay/peer/members.h"

namespace hearsay::peer {

/// How fast peers train, and how far the fleet is.
///
///   s = clamp(mean rate of live peers / own rate, 1/4, 4)
///   t += mean rate of live peers * seconds since the last round, and drawn to the mean of the live
///        peers' t, within half a minute; never back
///
/// A peer that is s times slower than the others takes steps s times as long and sends shares s
/// times as large, so that all train the same objective at the same weight: with the step alone
/// scaled, fast peers would end with small push-sum weights, and the mean would be wrong.
///
/// t is the fleet's clock, which advances by the mean of all peers' rounds: the learning rate and
/// the end of training follow it. Taken as that mean itself it would jump whenever a peer dies, or
/// is thought to have died, since rounds differ from peer to peer; the clocks do not. It is drawn
/// slowly because records are old: what is drawn to old clocks runs slow.
class Pace {
 public:
  static constexpr double kMostScale = 4;

  /// Begin at this time of the fleet's clock.
  explicit Pace(double clock = 0) : clock_(clock) {}

  /// A round of this peer ends.
  void round(const Members& members, double now);
  /// Its rounds per second, of the last ten or so; 0 until it has trained some.
  double rate() const { return interval_ > 0 ? 1 / interval_ : 0; }

  /// s; 1 until rates are known.
  double scale(const Members& members, double now) const;
  /// t, as of the last round.
  double clock() const { return clock_; }

 private:
  double mean_rate(const Members& members, double now) const;
  double mean_clock(const Members& members, double now, double own, double rate) const;

  std::optional<double> last_;
  double interval_ = 0;  ///< seconds per round
  std::uint64_t intervals_ = 0;
  double clock_;
};

}  // namespace hearsay::peer
