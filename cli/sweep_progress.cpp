#include "cli/sweep_progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/complain.h"
#include "cli/pace.h"

namespace hearsay::cli {

namespace {

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
    : runs_(runs), quiet_(quiet) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (sweep::state_of(runs[i]) == sweep::RunState::kFinished) {
      ++finished_;
      continue;
    }
    before_[i] = sweep::fraction_done(runs[i]);
    work_left_ += (1 - before_[i]) * work_of(i);
  }
}

double SweepProgress::work_of(std::size_t run) const {
  const train::RunOptions& config = runs_[run].config;
  const auto length = static_cast<double>(std::max(config.epochs, config.rounds));
  return length * static_cast<double>(config.peers);
}

std::string SweepProgress::time_left() const {
  double left = work_left_, done = work_done_;
  for (const auto& [run, since] : running_) {
    const double fraction = std::max(sweep::fraction_done(runs_[run]), before_.at(run));
    left += (1 - fraction) * work_of(run);
    done += (fraction - before_.at(run)) * work_of(run);
  }
  return done > 0 ? duration_text(seconds_since(begin_) * left / done) : "";
}

void SweepProgress::began(std::size_t run, bool again) {
  running_[run] = Clock::now();
  work_left_ -= (1 - before_[run]) * work_of(run);
  if (quiet_ || terminal_of(stdout).moves) return;
  fmt::print("{} {}\n", again ? "goes on:" : "begins: ", runs_[run].label);
  std::fflush(stdout);
}

void SweepProgress::ended(std::size_t run, const std::string& trouble, const std::string& warning) {
  const double seconds = seconds_since(running_.at(run));
  running_.erase(run);
  if (trouble.empty()) {
    ++finished_;
    work_done_ += (1 - before_[run]) * work_of(run);
  } else {
    ++failed_;
  }
  for (const std::string& said : {trouble, warning}) {
    if (said.empty()) continue;
    wipe();
    complain("hearsay: {}: {}\n", runs_[run].label, said);
  }
  if (quiet_ || !trouble.empty()) return;
  wipe();
  const std::string left = time_left();
  const bool over = finished_ + failed_ == runs_.size();
  const std::string rest = left.empty() || over ? "" : fmt::format("; about {} left", left);
  fmt::print("{:>4} of {}: {} ({}{})\n", finished_, runs_.size(), runs_[run].label,
             duration_text(seconds), rest);
  std::fflush(stdout);
}

void SweepProgress::put_back(std::size_t run) {
  running_.erase(run);
  before_[run] = sweep::fraction_done(runs_[run]);
  work_left_ += (1 - before_[run]) * work_of(run);
}

void SweepProgress::is_finished(std::size_t run) {
  const auto open = before_.find(run);
  if (open == before_.end()) return;
  work_left_ -= (1 - open->second) * work_of(run);
  before_.erase(open);
  ++finished_;
  if (quiet_) return;
  wipe();
  fmt::print("{:>4} of {}: {} (by another process)\n", finished_, runs_.size(), runs_[run].label);
  std::fflush(stdout);
}

void SweepProgress::tick(std::size_t elsewhere) {
  if (quiet_) return;
  std::vector<Line> lines;
  const auto all = runs_.size();
  const double part = all == 0 ? 1 : static_cast<double>(finished_) / static_cast<double>(all);
  std::string head = fmt::format("{} {} of {} runs done", bar(part), finished_, all);
  if (failed_ > 0) head += fmt::format(", {} failed", failed_);
  if (elsewhere > 0) head += fmt::format(", {} by another process", elsewhere);
  if (const std::string left = time_left(); !left.empty()) {
    head += fmt::format(", about {} left", left);
  }
  lines.push_back({{head}});
  for (const auto& [run, since] : running_) {
    const double fraction = sweep::fraction_done(runs_[run]);
    lines.push_back({{fmt::format("{} {:3.0f} %  {}, {}", bar(fraction), 100 * fraction,
                                  runs_[run].label, duration_text(seconds_since(since)))}});
  }
  block_.draw(lines);
}

}  // namespace hearsay::cli
