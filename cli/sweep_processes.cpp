#include "cli/sweep_processes.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "cli/jobs.h"
#include "cli/stop.h"
#include "cli/sweep_progress.h"
#include "hearsay/core/error.h"
#include "hearsay/sweep/sweep_runs.h"

namespace hearsay::cli {

namespace {

using sweep::RunState;

/// Every run in a separate process, K at a time: one that crashes, or runs out of memory, does not
/// affect the others.
class Processes {
 public:
  Processes(std::span<const sweep::SweepRun> runs, const ProcessesOptions& options)
      : runs_(runs),
        most_(options.jobs),
        threads_(options.threads),
        progress_(runs, options.quiet) {
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    if (threads_.empty()) threads_ = fmt::format("{}", std::max<std::size_t>(1, cores / most_));
    for (std::size_t i = 0; i < runs.size(); ++i) queue_.push_back(i);
  }

  /// Returns the exit status: 0, 1 if a run failed, kStopped.
  int run() {
    constexpr std::chrono::milliseconds kPatience{1000};
    bool told = false;
    for (;;) {
      start_what_can();
      if (queue_.empty() && jobs_.running() == 0) break;
      progress_.tick(count_elsewhere());
      for (const JobEnd& end : jobs_.wait(kPatience)) settle(end);
      if (!stop_requested()) continue;
      queue_.clear();
      if (!told) jobs_.signal(SIGTERM);  // once: the second one would kill
      told = true;
    }
    progress_.wipe();
    if (stop_requested()) return kStopped;
    return failed_ > 0 ? 1 : 0;
  }

 private:
  std::size_t count_elsewhere() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        queue_, [&](std::size_t i) { return sweep::state_of(runs_[i]) == RunState::kElsewhere; }));
  }

  void start_what_can() {
    for (auto next = queue_.begin(); next != queue_.end() && jobs_.running() < most_;) {
      const std::size_t i = *next;
      const RunState state = sweep::state_of(runs_[i]);
      if (state == RunState::kElsewhere) {
        ++next;  // it is checked again later
        continue;
      }
      next = queue_.erase(next);
      if (state == RunState::kFinished) {
        progress_.is_finished(i);
        continue;
      }
      const bool again = state == RunState::kBegun;
      try {
        jobs_.start(i, arguments(runs_[i], again));
        progress_.began(i, again);
      } catch (const RunFailed& error) {  // cannot start a process now
        if (jobs_.running() > 0) {        // retry when one of these has ended
          queue_.insert(queue_.begin(), i);
          return;
        }
        ++failed_;
        progress_.began(i, again);
        progress_.ended(i, error.what());
      }
    }
  }

  std::vector<std::string> arguments(const sweep::SweepRun& run, bool again) const {
    if (again) {
      return {"train", "--resume", run.out.string(), "--quiet", "--threads", threads_};
    }
    std::vector<std::string> words{"train", "--quiet", "--out", run.out.string()};
    for (const train::Option& option : train::options()) {
      words.push_back("--" + std::string(option.key));
      words.push_back(option.key == "threads" ? threads_ : option.text(run.config));
    }
    return words;
  }

  void settle(const JobEnd& end) {
    const RunState state = sweep::state_of(runs_[end.id]);
    constexpr std::string_view kName = "hearsay: ";
    std::string said = end.errors;
    if (said.starts_with(kName)) said.erase(0, kName.size());
    if (state == RunState::kFinished) {  // by us, or by another process while ours was refused
      return progress_.ended(end.id, "", end.status == 2 ? "" : said);
    }
    // Another process was faster, or held the run for a while.
    const bool taken =
        state == RunState::kElsewhere ||
        (state == RunState::kBegun && end.status == 2 && tried_.insert(end.id).second);
    if (taken && !stop_requested()) queue_.push_back(end.id);
    if (taken || stop_requested()) return progress_.put_back(end.id);
    ++failed_;
    progress_.ended(end.id, end.status < 0 ? fmt::format("killed by signal {}", -end.status)
                            : said.empty() ? fmt::format("exit status {}", end.status)
                                           : said);
  }

  const std::span<const sweep::SweepRun> runs_;
  const std::size_t most_;
  std::string threads_;
  std::vector<std::size_t> queue_;
  std::set<std::size_t> tried_;  ///< runs that another process held when we started them
  Jobs jobs_;
  SweepProgress progress_;
  std::size_t failed_ = 0;
};

}  // namespace

int run_in_processes(std::span<const sweep::SweepRun> runs, const ProcessesOptions& options) {
  return Processes(runs, options).run();
}

}  // namespace hearsay::cli
