#include "hearsay/run/peer/event_log.h"

#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hearsay::run {

double EventLog::now() {
  using std::chrono::system_clock;
  const double seconds =
      std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
  return std::round(seconds * 1e3) / 1e3;
}

void EventLog::add(const std::string& event, double seconds) {
  const std::lock_guard lock(mutex_);
  const auto second = static_cast<std::int64_t>(std::floor(seconds));
  if (second != second_) {
    if (in_second_ > kMostPerSecond) {
      write(fmt::format("{} more events in a second", in_second_ - kMostPerSecond), seconds);
    }
    second_ = second;
    in_second_ = 0;
  }
  if (++in_second_ <= kMostPerSecond) write(event, seconds);
}

/// A full disk must not end a run: what cannot be written is only said.
void EventLog::write(const std::string& event, double seconds) {
  if (!file_.is_open()) file_.open(path_, std::ios::app);
  const nlohmann::ordered_json line{{"time", std::round(seconds * 1e3) / 1e3}, {"event", event}};
  file_ << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  file_.clear();
  if (say_) say_(event);
}

}  // namespace hearsay::run
