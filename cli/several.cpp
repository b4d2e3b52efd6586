#include "cli/several.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "hearsay/core/error.h"
#include "hearsay/run/run.h"
#include "hearsay/sweep/dispatch/dispatch.h"

namespace hearsay::cli {

namespace {

namespace fs = std::filesystem;

/// A directory for each run. Throws InvalidArgument if two would share one.
std::vector<fs::path> directories(std::span<const NamedConfig> configs, const fs::path& out) {
  std::vector<fs::path> all;
  int number = 0;
  std::error_code error;
  for (const NamedConfig& config : configs) {
    fs::path directory = out / config.name;
    if (out.empty()) {
      do {
        directory = run::numbered("runs", ++number);
      } while (fs::exists(directory, error));
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

int train_several(std::span<const NamedConfig> configs, const fs::path& out,
                  SideBySideStyle style) {
  const std::vector<fs::path> where = directories(configs, out);
  std::vector<sweep::SweepRun> runs;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    runs.push_back({configs[i].name, configs[i].config, where[i]});
  }
  sweep::check_dispatch(runs, {});
  for (const fs::path& directory : where) run::check_free(directory);
  SideBySide shown(runs, style);
  const int status = shown.train({});
  for (const fs::path& directory : where) {
    if (style.quiet && fs::exists(directory)) fmt::print("{}\n", directory.string());
  }
  return status;
}

}  // namespace hearsay::cli
