#include "cli/live.h"

#include <cmath>

#include <fmt/format.h>

namespace hearsay::cli {

namespace {

constexpr std::chrono::milliseconds kBetween{500};  // between messages to the page

}  // namespace

void LiveObserver::started(const train::RunView& run, const train::RunOptions& config) {
  progress_.started(run, config);
  stopwatch_.start(run);
  page_.start("/proc/self/exe", {"hearsay", "watch", run_.string(), "--inherited"});
  there_ = true;
  progress_.say(fmt::format("the run can be watched at {}", page_.url()));
}

void LiveObserver::resumed(std::uint64_t round, const std::vector<std::string>& damaged) {
  progress_.resumed(round, damaged);
}

void LiveObserver::progressed(const train::RunView& run) {
  progress_.progressed(run);
  tell(run);
}

void LiveObserver::evaluated(const train::RunView& run, const train::Metrics& metrics) {
  progress_.evaluated(run, metrics);
  tell(run);
}

void LiveObserver::tell(const train::RunView& run) {
  if (!there_) return;
  const Pace pace = stopwatch_.pace(run);
  const auto now = std::chrono::steady_clock::now();
  if (now - told_ < kBetween && pace.round < pace.total) return;
  told_ = now;
  const std::string left =
      std::isfinite(pace.seconds_left) ? fmt::format("{:.1f}", pace.seconds_left) : "null";
  there_ = page_.send(
      fmt::format(R"({{"round":{},"total":{},"rounds_per_second":{:.4g},"seconds_left":{}}})",
                  pace.round, pace.total, pace.rounds_per_second, left));
  if (!there_) progress_.say("the live page is gone; training goes on");
}

}  // namespace hearsay::cli
