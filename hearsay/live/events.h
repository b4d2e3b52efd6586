#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hearsay/live/feed.h"
#include "hearsay/live/tail.h"

namespace hearsay::live {

/// The server-sent events that one viewer gets of a run (HTML Living Standard, 9.2):
///
///   event: line        data: a line of metrics.jsonl      id: byte offset of its end in the file
///   event: progress    data: {"round": 1200, "total": 1520, "rounds_per_second": 80.1,
///                             "seconds_left": 4}
///   event: fleet       data: of a device: the part of its page about its fleet, a JSON string
///   event: reset       lines sent so far are invalid; lines start over
///   event: end         all lines were sent, no more will come
///
/// A viewer that reconnects with the last id continues from there, so no state is kept for viewers
/// that have left.
class Events {
 public:
  /// `last_id`: the last id that the viewer got (Last-Event-ID); ignored if it is not a number.
  Events(const std::filesystem::path& metrics, const std::string& last_id);

  /// The bytes to send now, given the state of the feed; may be empty. The file is read if the
  /// state says that it has changed, or if the last call did not read all of it.
  std::string next(const Feed::State& state);

  bool ended() const { return ended_; }  ///< the viewer got the end event

 private:
  Tail tail_;
  std::optional<std::uint64_t> changes_;  ///< the last that were read
  std::string progress_;                  ///< sent last
  std::shared_ptr<const std::string> fleet_;
  bool ended_ = false;
};

}  // namespace hearsay::live
