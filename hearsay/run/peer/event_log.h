#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>

namespace hearsay::run {

/// What happens to a peer, for people: each event is passed on, and is a line of events.jsonl,
///
///   {"time": 1763553600.25, "event": "pi-7 is gone (silent for 2.5 s); 3 messages taken back"}
///
/// with the seconds since 1970. At most kMostPerSecond: of what comes on top the number is said.
/// For any number of threads.
class EventLog {
 public:
  static constexpr std::uint64_t kMostPerSecond = 20;
  using Say = std::function<void(const std::string&)>;

  /// Appends to the file, which is created with the first event. `say` may be empty.
  EventLog(std::filesystem::path file, Say say) : path_(std::move(file)), say_(std::move(say)) {}

  void add(const std::string& event) { add(event, now()); }
  /// At that time, for tests.
  void add(const std::string& event, double seconds);

  static double now();  ///< seconds since 1970, to the millisecond

 private:
  void write(const std::string& event, double seconds);

  std::filesystem::path path_;
  Say say_;
  std::mutex mutex_;
  std::ofstream file_;
  std::int64_t second_ = 0;
  std::uint64_t in_second_ = 0;
};

}  // namespace hearsay::run
