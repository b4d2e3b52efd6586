#include "hearsay/sweep/run_sweep.h"

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/sweep/sweep_record.h"

namespace hearsay::sweep {

std::vector<SweepRun> prepare_sweep(const Sweep& sweep, const std::filesystem::path& out,
                                    const DispatchOptions& options) {
  const SweepRuns all = runs_of(sweep, out);
  std::vector<SweepRun> runs = wanted_runs(all);
  if (runs.empty()) {
    const auto first = std::ranges::find_if(sweep.rows, &SweepRow::wanted);
    throw InvalidArgument(
        fmt::format("[{}] no row can be run: {}", sweep.file,
                    first == sweep.rows.end() ? "there is none" : first->missing));
  }
  check_dispatch(runs, options);
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) {
    throw InvalidArgument(
        fmt::format("[sweep] cannot create {}: {}", out.string(), error.message()));
  }
  write_sweep_record(record_path(sweep, out), sweep, all);
  return runs;
}

SweepOutcome run_sweep(const Sweep& sweep, const std::filesystem::path& out,
                       const DispatchOptions& options, SweepObserver& observer) {
  return train_runs(prepare_sweep(sweep, out, options), options, observer);
}

}  // namespace hearsay::sweep
