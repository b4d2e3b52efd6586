#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hearsay/live/feed.h"
#include "hearsay/live/tail.h"

namespace hearsay::live {

/// What one viewer hears of a run, as server-sent events (HTML Living Standard, 9.2):
///
///   event: line        data: a line of metrics.jsonl      id: where it ends in the file, in bytes
///   event: progress    data: {"round": 1200, "total": 1520, "rounds_per_second": 80.1,
///                             "seconds_left": 4}
///   event: reset       what was told does not hold any more; lines begin anew
///   event: end         all lines are told, no more will come
///
/// A viewer that comes back with the last id goes on from there, so nothing is kept of those that
/// have left.
class Events {
 public:
  /// `last_id`: what the viewer heard last (Last-Event-ID); anything but a number is nothing.
  Events(const std::filesystem::path& metrics, const std::string& last_id);

  /// The bytes to send now, given what the feed says; maybe none. The file is read if that says
  /// that it has changed, or there was more than came last time.
  std::string next(const Feed::State& state);

  bool ended() const { return ended_; }  ///< the viewer was told so

 private:
  Tail tail_;
  std::optional<std::uint64_t> changes_;  ///< that were read
  std::string progress_;                  ///< told last
  bool ended_ = false;
};

}  // namespace hearsay::live
