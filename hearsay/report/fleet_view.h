#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace hearsay::report {

/// A line of events.jsonl.
struct FleetEvent {
  double time = 0;     ///< seconds since 1970
  std::string device;  ///< empty: the only one
  std::string event;
};

/// A peer as a device knows it.
struct FleetMember {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::string name, status;
  bool self = false, live = false;
  double heard = kNone;  ///< seconds since it was heard of, itself or through others
  double rounds = kNone, rate = kNone, push_sum = kNone, loss = kNone, score = kNone, bytes = kNone;
};

/// What a device knows of its fleet: fleet.json and the end of events.jsonl in its run directory
/// (run/peer/peer_run.h). Either may be missing. Both may hold anything: texts are shortened, at
/// most so many entries are kept, and what is no such entry is left out.
struct FleetView {
  static constexpr std::size_t kMostMembers = 1024;
  static constexpr std::size_t kMostEvents = 200;
  static constexpr std::size_t kMostText = 300;               ///< bytes
  static constexpr std::uintmax_t kMostFileBytes = 4 << 20;   ///< of fleet.json
  static constexpr std::uintmax_t kMostEventBytes = 1 << 18;  ///< of events.jsonl: the last

  std::optional<double> time{};  ///< when fleet.json was written, in seconds since 1970
  std::vector<FleetMember> members{};
  std::vector<FleetEvent> events{};     ///< newest first
  std::vector<std::string> problems{};  ///< "[report] runs/a/fleet.json, line 3: ..."

  bool empty() const { return members.empty() && events.empty(); }
};

FleetView read_fleet_view(const std::filesystem::path& run);

/// "2026-11-19 19:27:51"; "-" for a time that is none. UTC.
std::string time_text(double seconds);

/// Control characters become '?': for a terminal.
std::string visible(std::string text);

}  // namespace hearsay::report
