#include "cli/several.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/core.h>

#include "cli/complain.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "hearsay/core/error.h"
#include "hearsay/report/page/page.h"
#include "hearsay/report/table.h"
#include "hearsay/run/fleet.h"

namespace hearsay::cli {

namespace {

namespace fs = std::filesystem;

/// A directory for each run. Throws InvalidArgument if two would share one.
std::vector<fs::path> directories(std::span<const NamedConfig> configs, const fs::path& out) {
  std::vector<fs::path> all;
  int number = 0;
  for (const NamedConfig& config : configs) {
    fs::path directory = out / config.name;
    if (out.empty()) {
      do {
        directory = fs::path("runs") / fmt::format("{:03}", ++number);
      } while (fs::exists(directory));
    }
    if (std::ranges::count(all, directory) > 0) {
      throw InvalidArgument(fmt::format(
          "[train] two of the files are named {} and would share {}; rename one, or drop --out",
          config.name, directory.string()));
    }
    all.push_back(std::move(directory));
  }
  return all;
}

}  // namespace

int train_several(std::span<const NamedConfig> configs, const fs::path& out, bool quiet) {
  catch_signals();
  const std::vector<fs::path> where = directories(configs, out);
  std::vector<train::RunOptions> settings;
  std::size_t width = 0;
  for (const NamedConfig& config : configs) {
    if (config.config.compare == train::Compare::kYes) {
      throw InvalidArgument(
          fmt::format("[train] {} asks for compare = yes, which is for one run at a time; train it "
                      "alone, or drop that",
                      config.name));
    }
    settings.push_back(config.config);
    width = std::max(width, config.name.size());
  }
  for (const fs::path& directory : where) run::check_free(directory);

  int status = 0;
  for (const std::vector<std::size_t>& group : run::fleets_of(settings)) {
    std::vector<std::unique_ptr<run::Observer>> observers;
    std::vector<run::FleetRun> runs;
    for (std::size_t i : group) {
      observers.push_back(make_progress(
          {.lines = !quiet, .label = fmt::format("{:<{}}  ", configs[i].name, width)}));
      runs.push_back({settings[i], where[i], observers.back().get()});
    }
    const auto outcomes = run::run_fleet(runs);
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::string& name = configs[group[k]].name;
      if (!outcomes[k].outcome) {
        complain("hearsay: {}: {}\n", name, outcomes[k].error);
        status = 1;
        continue;
      }
      const run::Outcome& outcome = *outcomes[k].outcome;
      if (!outcome.warning.empty()) {
        complain("hearsay: warning: {}: {}\n", name, outcome.warning);
      }
      report::write_page(runs[k].out);
      if (outcome.finished) continue;
      complain("hearsay: {} stopped at round {}; go on with: hearsay train --resume {}\n", name,
               outcome.round, runs[k].out.string());
    }
    if (stop_requested()) return kStopped;
  }
  if (!quiet) {
    std::vector<std::string> finished;
    finished.reserve(where.size());
    for (const fs::path& directory : where) finished.push_back(directory.string());
    fmt::print("\n{}", report::compare_runs(finished).table);
  }
  return status;
}

}  // namespace hearsay::cli
