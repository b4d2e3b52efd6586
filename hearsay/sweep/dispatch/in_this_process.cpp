#include "hearsay/sweep/dispatch/in_this_process.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"
#include "hearsay/run/fleet.h"

namespace hearsay::sweep {

namespace {

class ThisProcess {
 public:
  ThisProcess(std::span<const SweepRun> runs, const DispatchOptions& options,
              SweepObserver& observer)
      : runs_(runs), threads_(options.threads), observer_(observer) {
    outcome_.ends.resize(runs.size());
  }

  SweepOutcome run() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const RunState state = state_of(runs_[i]);
      if (state == RunState::kFinished) end(i, {.how = RunEnd::How::kFinished});
      if (state == RunState::kElsewhere) end(i, {.how = RunEnd::How::kElsewhere});
      if (state == RunState::kOpen) open.push_back(i);
      if (state == RunState::kBegun) resume(i);
    }
    for (const std::vector<std::size_t>& fleet : fleets_of(open)) begin(fleet);
    stopped();  // also after the last one
    return std::move(outcome_);
  }

 private:
  bool stopped() { return outcome_.stopped = outcome_.stopped || observer_.stop_requested(); }

  /// Groups of indices of runs.
  std::vector<std::vector<std::size_t>> fleets_of(const std::vector<std::size_t>& open) const {
    std::vector<train::RunOptions> configs;
    for (const std::size_t i : open) configs.push_back(runs_[i].config);
    std::vector<std::vector<std::size_t>> fleets = run::fleets_of(configs);
    for (std::vector<std::size_t>& fleet : fleets) {
      for (std::size_t& i : fleet) i = open[i];
    }
    return fleets;
  }

  void resume(std::size_t i) {
    if (stopped()) return end(i, {.how = RunEnd::How::kStopped});
    observer_.began(runs_[i], true);
    const auto observer = observer_.observe(runs_[i]);
    run::Outcome outcome;
    try {
      outcome = run::resume(runs_[i].out, threads_.value_or(0), *observer);
    } catch (const std::exception& error) {
      return fail(i, message_of(error));
    }
    end(i, outcome);
  }

  void begin(const std::vector<std::size_t>& fleet) {
    const bool too_late = stopped();
    for (const std::size_t i : fleet) {
      if (too_late) {
        end(i, {.how = RunEnd::How::kStopped});
      } else {
        observer_.began(runs_[i], false);
      }
    }
    if (!too_late) train(fleet);
  }

  void train(const std::vector<std::size_t>& fleet) {
    std::vector<std::unique_ptr<run::Observer>> observers;
    std::vector<run::FleetRun> members;
    for (const std::size_t i : fleet) {
      observers.push_back(observer_.observe(runs_[i]));
      members.push_back({runs_[i].config, runs_[i].out, observers.back().get()});
      if (threads_) members.back().config.threads = *threads_;
    }
    std::vector<run::FleetOutcome> outcomes;
    try {
      outcomes = run::run_fleet(members);
    } catch (const InvalidArgument& error) {  // one of them cannot begin: none has
      if (fleet.size() == 1) return fail(fleet.front(), message_of(error));
      for (const std::size_t i : fleet) train({i});
      return;
    } catch (const std::exception& error) {
      for (const std::size_t i : fleet) fail(i, message_of(error));
      return;
    }
    for (std::size_t k = 0; k < fleet.size(); ++k) {
      if (outcomes[k].outcome) {
        end(fleet[k], *outcomes[k].outcome);
      } else {
        fail(fleet[k], outcomes[k].error);
      }
    }
  }

  void end(std::size_t i, const run::Outcome& outcome) {
    if (outcome.finished) {
      std::vector<std::string> texts;
      for (const run::Warning& warning : outcome.warnings) texts.push_back(warning.text());
      return end(i, {RunEnd::How::kFinished, fmt::format("{}", fmt::join(texts, "; "))});
    }
    end(i, {.how = RunEnd::How::kStopped, .round = outcome.round});
  }

  /// Unless another process has just taken the run.
  void fail(std::size_t i, const std::string& why) {
    const RunState state = state_of(runs_[i]);
    if (state == RunState::kFinished) return end(i, {.how = RunEnd::How::kFinished});
    if (state == RunState::kElsewhere) return end(i, {.how = RunEnd::How::kElsewhere});
    end(i, {RunEnd::How::kFailed, why});
  }

  void end(std::size_t i, RunEnd how) {
    outcome_.ends[i] = std::move(how);
    observer_.ended(runs_[i], outcome_.ends[i]);
  }

  const std::span<const SweepRun> runs_;
  const std::optional<std::uint64_t> threads_;
  SweepObserver& observer_;
  SweepOutcome outcome_;
};

}  // namespace

SweepOutcome train_in_this_process(std::span<const SweepRun> runs, const DispatchOptions& options,
                                   SweepObserver& observer) {
  return ThisProcess(runs, options, observer).run();
}

}  // namespace hearsay::sweep
