#include "cli/terminal/side_by_side.h"

#include <algorithm>

#include <fmt/core.h>

#include "cli/stop.h"
#include "cli/terminal/complain.h"
#include "cli/terminal/logged.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/shell_word.h"
#include "hearsay/core/error.h"
#include "hearsay/report/page/page.h"
#include "hearsay/report/table.h"

namespace hearsay::cli {

using How = sweep::RunEnd::How;

SideBySide::SideBySide(std::span<const sweep::SweepRun> runs, SideBySideStyle style)
    : runs_(runs), style_(style) {
  for (const sweep::SweepRun& run : runs) width_ = std::max(width_, run.label.size());
}

int SideBySide::train(const sweep::DispatchOptions& options) {
  outcome_ = sweep::train_runs(runs_, options, *this);
  if (outcome_.stopped) return kStopped;
  if (!style_.quiet && !new_.empty()) {
    fmt::print("\n{}", report::compare_runs(new_, style_.wide).table);
  }
  return outcome_.count(How::kFailed) + outcome_.count(How::kElsewhere) > 0 ? 1 : 0;
}

void SideBySide::began(const sweep::SweepRun& run, bool resumed) {
  running_.insert(&run);
  if (!resumed) new_.push_back(run.out.string());
}

void SideBySide::ended(const sweep::SweepRun& run, const sweep::RunEnd& end) {
  const bool was_running = running_.erase(&run) > 0;
  if (end.how == How::kElsewhere) {
    complain("hearsay: {}: another process trains it; the same command later shows it\n",
             run.label);
  }
  if (!was_running || end.how == How::kElsewhere) return;
  if (end.how == How::kFailed) return complain("hearsay: {}: {}\n", run.label, end.message);
  if (!end.message.empty()) complain("hearsay: warning: {}: {}\n", run.label, end.message);
  try {
    report::write_page(run.out);
  } catch (const std::exception& error) {  // the other runs go on
    complain("hearsay: warning: {}: {}\n", run.label, message_of(error));
  }
  if (end.how == How::kFinished) return;
  complain("hearsay: {} stopped at round {}; go on with: hearsay train --resume {}\n", run.label,
           end.round, shell_word(run.out.string()));
}

bool SideBySide::stop_requested() { return cli::stop_requested(); }

std::unique_ptr<run::Observer> SideBySide::observe(const sweep::SweepRun& run) {
  auto shown =
      make_progress({.lines = !style_.quiet, .label = fmt::format("{:<{}}  ", run.label, width_)});
  if (!style_.log) return shown;
  return std::make_unique<Logged>(std::move(shown), run.out);
}

}  // namespace hearsay::cli
