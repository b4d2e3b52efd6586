#include "hearsay/sweep/dispatch/dispatch.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"
#include "hearsay/sweep/dispatch/in_processes.h"
#include "hearsay/sweep/dispatch/in_this_process.h"
#include "hearsay/transport/mpi/mpi.h"

namespace hearsay::sweep {

namespace {

class Stops : public run::Observer {
 public:
  explicit Stops(SweepObserver& sweep) : sweep_(sweep) {}
  bool stop_requested() override { return sweep_.stop_requested(); }

 private:
  SweepObserver& sweep_;
};

bool any_on_gpu(std::span<const SweepRun> runs) {
  return std::ranges::any_of(
      runs, [](const SweepRun& run) { return spec_name(run.config.device) != "cpu"; });
}

}  // namespace

std::unique_ptr<run::Observer> SweepObserver::observe(const SweepRun& /*run*/) {
  return std::make_unique<Stops>(*this);
}

std::size_t SweepOutcome::count(RunEnd::How how) const {
  return static_cast<std::size_t>(std::ranges::count(ends, how, &RunEnd::how));
}

bool in_processes(std::span<const SweepRun> runs, const DispatchOptions& options) {
  return !options.program.empty() && !any_on_gpu(runs);
}

void check_dispatch(std::span<const SweepRun> runs, const DispatchOptions& options) {
  if (transport::started_by_mpirun()) {
    throw InvalidArgument("[sweep] starts processes of its own; start it without mpirun");
  }
  if (options.jobs == 0) throw InvalidArgument("[sweep] --jobs must be at least 1, got 0");
  if (options.jobs > 1 && any_on_gpu(runs)) {
    throw InvalidArgument(
        "[sweep] --jobs is for the CPU; on a GPU runs that fit together go side by side anyway");
  }
  if (in_processes(runs, options)) {
    if (::access(options.program.c_str(), X_OK) != 0) {
      throw InvalidArgument(
          fmt::format("[sweep] there is no program '{}'; give the path of hearsay, or none to "
                      "train in this process",
                      options.program.string()));
    }
    return;
  }
  if (options.jobs > 1) {
    throw InvalidArgument(
        "[sweep] several jobs need processes of their own; give the path of the program hearsay");
  }
  for (const SweepRun& run : runs) {
    if (run.config.compare != train::Compare::kYes) continue;
    throw InvalidArgument(
        fmt::format("[train] {} asks for compare = yes, which is for one run at a time; train it "
                    "alone, or drop that",
                    run.label));
  }
}

SweepOutcome train_runs(std::span<const SweepRun> runs, const DispatchOptions& options,
                        SweepObserver& observer) {
  check_dispatch(runs, options);
  return in_processes(runs, options) ? train_in_processes(runs, options, observer)
                                     : train_in_this_process(runs, options, observer);
}

}  // namespace hearsay::sweep
