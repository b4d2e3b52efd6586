#include "cli/terminal/pace.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace hearsay::cli {

void Stopwatch::start(const train::RunView& run) {
  begin_ = std::chrono::steady_clock::now();
  first_round_ = run.round();
}

Pace Stopwatch::pace(const train::RunView& run) const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  Pace pace{.round = run.round(), .total = run.total_rounds()};
  const auto done = static_cast<double>(pace.round - first_round_);
  if (elapsed.count() > 0) pace.rounds_per_second = done / elapsed.count();
  pace.seconds_left = pace.rounds_per_second > 0
                          ? static_cast<double>(pace.total - pace.round) / pace.rounds_per_second
                          : std::numeric_limits<double>::infinity();
  return pace;
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  constexpr double kLongest = 1e9;  // 30 years
  const auto whole = static_cast<std::uint64_t>(std::round(std::min(seconds, kLongest)));
  const std::uint64_t minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  if (minutes == 0) return fmt::format("{} s", whole);
  if (hours == 0) return fmt::format("{} min {:02} s", minutes, whole % 60);
  if (days == 0) return fmt::format("{} h {:02} min", hours, minutes % 60);
  return fmt::format("{} d {} h", days, hours % 24);
}

}  // namespace hearsay::cli
