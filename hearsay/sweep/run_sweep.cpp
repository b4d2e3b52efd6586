#include "hearsay/sweep/run_sweep.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/sweep/sweep_record.h"
#include "hearsay/sweep/unfit.h"

namespace hearsay::sweep {

namespace {

namespace fs = std::filesystem;

std::string name_of(const SweepRun& run) { return run.out.filename().string(); }

/// Those of an earlier call, which may have been for other rows.
SweepRecord::Failures known_failures(const fs::path& record) {
  std::error_code error;
  if (!fs::exists(record, error)) return {};
  try {
    return read_sweep_record(record).failed;
  } catch (const std::exception&) {  // it is written anew
    return {};
  }
}

}  // namespace

std::vector<SweepRun> prepare_sweep(const Sweep& sweep, const fs::path& out,
                                    const DispatchOptions& options) {
  const SweepRuns all = runs_of(sweep, out);
  std::vector<SweepRun> runs = wanted_runs(all);
  const bool refused = std::ranges::any_of(
      sweep.rows, [](const SweepRow& row) { return row.wanted && !row.refused.empty(); });
  if (runs.empty() && !refused) {
    const auto first = std::ranges::find_if(sweep.rows, &SweepRow::wanted);
    throw InvalidArgument(
        fmt::format("[{}] no row can be run: {}", sweep.file,
                    first == sweep.rows.end() ? "there is none" : first->missing));
  }
  check_dispatch(runs, options);
  if (const Unfit unfit = find_unfit(sweep, all); unfit.count > 0) {
    throw InvalidArgument(unfit_text(sweep, all, unfit));
  }
  std::error_code error;
  fs::create_directories(out, error);
  if (error) {
    throw InvalidArgument(
        fmt::format("[sweep] cannot create {}: {}", out.string(), error.message()));
  }
  SweepRecord::Failures failed = known_failures(record_path(sweep, out));
  for (const SweepRun& run : runs) failed.erase(name_of(run));
  write_sweep_record(record_path(sweep, out), sweep, all, failed);
  return runs;
}

void record_failures(const Sweep& sweep, const fs::path& out, std::span<const SweepRun> runs,
                     const SweepOutcome& outcome) {
  if (outcome.count(RunEnd::How::kFailed) == 0) return;
  SweepRecord::Failures failed = known_failures(record_path(sweep, out));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (outcome.ends[i].how == RunEnd::How::kFailed) {
      failed[name_of(runs[i])] = outcome.ends[i].message;
    }
  }
  write_sweep_record(record_path(sweep, out), sweep, runs_of(sweep, out), failed);
}

SweepOutcome run_sweep(const Sweep& sweep, const fs::path& out, const DispatchOptions& options,
                       SweepObserver& observer) {
  const std::vector<SweepRun> runs = prepare_sweep(sweep, out, options);
  SweepOutcome outcome = train_runs(runs, options, observer);
  record_failures(sweep, out, runs, outcome);
  return outcome;
}

}  // namespace hearsay::sweep
