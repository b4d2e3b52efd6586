#include "cli/terminal/sweep_progress.h"

#include <cmath>

#include <fmt/format.h>

#include "cli/stop.h"
#include "cli/terminal/complain.h"
#include "cli/terminal/pace.h"

namespace hearsay::cli {

namespace {

using How = sweep::RunEnd::How;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string bar(double fraction) {
  constexpr std::size_t kWidth = 20;
  const auto filled = static_cast<std::size_t>(kWidth * fraction);
  return fmt::format("[{:<{}}]", std::string(filled, '='), kWidth);
}

}  // namespace

SweepProgress::SweepProgress(std::span<const sweep::SweepRun> runs, bool quiet)
    : runs_(runs), quiet_(quiet), left_(runs) {
  for (const sweep::SweepRun& run : runs) {
    if (sweep::state_of(run) == sweep::RunState::kFinished) finished_.insert(&run);
  }
}

bool SweepProgress::stop_requested() { return cli::stop_requested(); }

std::string SweepProgress::time_left() const {
  const double seconds = left_.seconds();
  return std::isfinite(seconds) ? fmt::format("about {} left", duration_text(seconds)) : "";
}

void SweepProgress::print_done(const sweep::SweepRun& run, const std::string& remark) {
  if (quiet_) return;
  wipe();
  fmt::print("{:>4} of {}: {} ({})\n", finished_.size(), runs_.size(), run.label, remark);
  std::fflush(stdout);
}

void SweepProgress::began(const sweep::SweepRun& run, bool resumed) {
  running_[&run] = Clock::now();
  left_.began(run);
  if (quiet_ || terminal_of(stdout).moves) return;
  fmt::print("{} {}\n", resumed ? "goes on:" : "begins: ", run.label);
  std::fflush(stdout);
}

void SweepProgress::ended(const sweep::SweepRun& run, const sweep::RunEnd& end) {
  const auto mine = running_.extract(&run);
  left_.ended(run, end.how);
  if (!end.message.empty()) {
    wipe();
    complain("hearsay: {}: {}\n", run.label, end.message);
  }
  if (end.how == How::kFailed) ++failed_;
  if (end.how != How::kFinished || !finished_.insert(&run).second) return;
  if (mine.empty()) return print_done(run, "by another process");
  std::string remark = duration_text(seconds_since(mine.mapped()));
  const bool over = finished_.size() + failed_ == runs_.size();
  if (const std::string left = time_left(); !left.empty() && !over) remark += "; " + left;
  print_done(run, remark);
}

void SweepProgress::waiting(std::size_t elsewhere) {
  if (quiet_) return;
  std::vector<Line> lines;
  const std::size_t all = runs_.size(), done = finished_.size();
  const double part = all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all);
  std::string head = fmt::format("{} {} of {} runs done", bar(part), done, all);
  if (failed_ > 0) head += fmt::format(", {} failed", failed_);
  if (elsewhere > 0) head += fmt::format(", {} by another process", elsewhere);
  if (const std::string left = time_left(); !left.empty()) head += ", " + left;
  lines.push_back({{head}});
  for (const auto& [run, since] : running_) {
    const double fraction = sweep::fraction_done(*run);
    lines.push_back({{fmt::format("{} {:3.0f} %  {}, {}", bar(fraction), 100 * fraction, run->label,
                                  duration_text(seconds_since(since)))}});
  }
  block_.draw(lines);
}

}  // namespace hearsay::cli
