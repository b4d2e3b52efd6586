#include "hearsay/sweep/dispatch/in_processes.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/sweep/dispatch/jobs.h"

namespace hearsay::sweep {

namespace {

std::string threads_of(const DispatchOptions& options) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return fmt::format("{}",
                     options.threads.value_or(std::max<std::size_t>(1, cores / options.jobs)));
}

/// The command that trains a run.
std::vector<std::string> arguments(const SweepRun& run, bool resumed, const std::string& threads) {
  if (resumed) return {"train", "--resume", run.out.string(), "--quiet", "--threads", threads};
  std::vector<std::string> words{"train", "--quiet", "--out", run.out.string()};
  for (const train::Option& option : train::options()) {
    words.push_back("--" + std::string(option.key));
    words.push_back(option.key == "threads" ? threads : option.text(run.config));
  }
  return words;
}

class Processes {
 public:
  Processes(std::span<const SweepRun> runs, const DispatchOptions& options, SweepObserver& observer)
      : runs_(runs),
        most_(options.jobs),
        threads_(threads_of(options)),
        observer_(observer),
        jobs_(options.program) {
    outcome_.ends.resize(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) queue_.push_back(i);
  }

  SweepOutcome run() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kBetweenPolls{100}, kBetweenReports{1000};
    for (Clock::time_point report{};;) {
      poll_stop();
      start_what_can();
      if (queue_.empty() && jobs_.running() == 0) break;
      if (Clock::now() >= report) {
        observer_.waiting(count_elsewhere());
        report = Clock::now() + kBetweenReports;
      }
      for (const JobEnd& end : jobs_.wait(kBetweenPolls)) {
        settle(end);
        report = {};
      }
    }
    return std::move(outcome_);
  }

 private:
  void poll_stop() {
    if (outcome_.stopped || !observer_.stop_requested()) return;
    outcome_.stopped = true;
    jobs_.signal(SIGTERM);  // once: the second one would kill
    for (const std::size_t i : std::exchange(queue_, {})) {
      end(i, {.how = outcome_.ends[i].how});  // kStopped, or kElsewhere
    }
  }

  std::size_t count_elsewhere() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        queue_, [&](std::size_t i) { return state_of(runs_[i]) == RunState::kElsewhere; }));
  }

  void start_what_can() {
    for (auto next = queue_.begin(); next != queue_.end() && jobs_.running() < most_;) {
      const std::size_t i = *next;
      const RunState state = state_of(runs_[i]);
      if (state == RunState::kElsewhere) {
        outcome_.ends[i].how = RunEnd::How::kElsewhere;
        ++next;  // it is checked again later
        continue;
      }
      next = queue_.erase(next);
      if (state == RunState::kFinished) {
        end(i, {.how = RunEnd::How::kFinished});
        continue;
      }
      const bool resumed = state == RunState::kBegun;
      try {
        jobs_.start(i, arguments(runs_[i], resumed, threads_));
      } catch (const RunFailed& error) {  // cannot start a process now
        if (jobs_.running() > 0) {        // retry when one of these has ended
          queue_.insert(queue_.begin(), i);
          return;
        }
        observer_.began(runs_[i], resumed);
        end(i, {.how = RunEnd::How::kFailed, .message = error.what()});
        continue;
      }
      observer_.began(runs_[i], resumed);
    }
  }

  void settle(const JobEnd& job) {
    poll_stop();
    const RunState state = state_of(runs_[job.id]);
    constexpr std::string_view kName = "hearsay: ";
    std::string said = job.errors;
    if (said.starts_with(kName)) said.erase(0, kName.size());
    if (state == RunState::kFinished) {  // by us, or by another process while ours was refused
      return end(job.id, {.how = RunEnd::How::kFinished, .message = job.status == 2 ? "" : said});
    }
    // Another process was faster, or held the run for a while.
    const bool taken =
        state == RunState::kElsewhere ||
        (state == RunState::kBegun && job.status == 2 && tried_.insert(job.id).second);
    if (taken) {
      if (!outcome_.stopped) queue_.push_back(job.id);
      return end(job.id, {.how = RunEnd::How::kElsewhere});
    }
    if (outcome_.stopped) return end(job.id, {.how = RunEnd::How::kStopped});
    const std::string why = job.status < 0 ? fmt::format("killed by signal {}", -job.status)
                            : said.empty() ? fmt::format("exit status {}", job.status)
                                           : said;
    end(job.id, {.how = RunEnd::How::kFailed, .message = why});
  }

  void end(std::size_t i, RunEnd how) {
    outcome_.ends[i] = std::move(how);
    observer_.ended(runs_[i], outcome_.ends[i]);
  }

  const std::span<const SweepRun> runs_;
  const std::size_t most_;
  const std::string threads_;
  SweepObserver& observer_;
  std::vector<std::size_t> queue_;
  std::set<std::size_t> tried_;  ///< runs that another process held when we started them
  Jobs jobs_;
  SweepOutcome outcome_;
};

}  // namespace

SweepOutcome train_in_processes(std::span<const SweepRun> runs, const DispatchOptions& options,
                                SweepObserver& observer) {
  return Processes(runs, options, observer).run();
}

}  // namespace hearsay::sweep
