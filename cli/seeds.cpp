#include "cli/seeds.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "cli/stop.h"
#include "cli/terminal/complain.h"
#include "cli/terminal/shell_word.h"
#include "cli/terminal/side_by_side.h"
#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/report/page/page.h"
#include "hearsay/report/seeds.h"
#include "hearsay/report/table.h"
#include "hearsay/run/run.h"

namespace hearsay::cli {

namespace {

namespace fs = std::filesystem;
using How = sweep::RunEnd::How;

constexpr std::size_t kMostSeeds = 1000;

/// Throws InvalidArgument unless `directory` is free, or holds this run.
void check_directory(const fs::path& directory, const train::RunOptions& config) {
  if (!fs::exists(directory / "config.toml")) return run::check_free(directory);
  const train::RunOptions there = train::options_of_run(directory);
  if (there.hash() == config.hash()) return;
  for (const train::Option& option : train::options()) {
    if (!option.changes_results || option.text(there) == option.text(config)) continue;
    throw InvalidArgument(
        fmt::format("[train] {} holds a run of other settings: {} is {} there, and {} here; use "
                    "another --out",
                    directory.string(), option.key, option.text(there), option.text(config)));
  }
}

/// Creates the first free one of runs/001, ...; other processes may take one concurrently.
fs::path make_numbered() {
  fs::create_directories("runs");
  int number = 1;
  while (!fs::create_directory(run::numbered("runs", number))) ++number;
  return run::numbered("runs", number);
}

/// The table, the page and the file of results of these runs.
void tell(const std::vector<sweep::SweepRun>& runs, const fs::path& out, bool quiet) {
  std::vector<std::string> directories;
  for (const sweep::SweepRun& run : runs) {
    if (fs::exists(run.out / "metrics.jsonl")) directories.push_back(run.out.string());
  }
  if (quiet) {
    for (const std::string& directory : directories) fmt::print("{}\n", directory);
  }
  if (directories.empty()) return;
  const report::Runs read = report::read_runs(directories);
  for (const std::string& problem : read.problems) complain("hearsay: left out: {}\n", problem);
  if (read.runs.empty()) return;
  if (!quiet) fmt::print("\n{}", report::seeds_table(read));
  for (const auto& [name, text] : {std::pair("report.html", report::make_page(read).html),
                                   {"results.json", report::results_json(read)}}) {
    DurableFile file(out / name);
    file.write(text);
    file.commit();
  }
  if (!quiet) fmt::print("\nrun directories: {}\n", (out / "seed-*").string());
}

}  // namespace

std::vector<std::uint64_t> read_seeds(std::string_view text) {
  std::vector<std::uint64_t> seeds;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    train::RunOptions one;
    try {
      one.set("seed", word);
    } catch (const InvalidArgument&) {
      throw InvalidArgument(fmt::format("[train] --seeds must be whole numbers, as 1,2,3, got '{}'",
                                        text.substr(0, 200)));
    }
    if (std::ranges::count(seeds, one.seed) > 0) {
      throw InvalidArgument(fmt::format("[train] --seeds names seed {} twice", one.seed));
    }
    if (seeds.size() == kMostSeeds) {
      throw InvalidArgument(
          fmt::format("[train] --seeds takes at most {} seeds at a time", kMostSeeds));
    }
    seeds.push_back(one.seed);
    begin = end + 1;
  }
  return seeds;
}

int train_seeds(const train::RunOptions& config, const std::vector<std::uint64_t>& seeds,
                const SeedsOptions& options) {
  if (fs::exists(options.out / "config.toml") && !options.out.empty()) {
    throw InvalidArgument(
        fmt::format("[train] {} holds a run; --seeds makes a directory for each seed: use another "
                    "--out",
                    options.out.string()));
  }
  std::vector<sweep::SweepRun> runs;
  for (const std::uint64_t seed : seeds) {
    sweep::SweepRun& run = runs.emplace_back();
    run.label = fmt::format("seed-{}", seed);
    run.config = config;
    run.config.seed = seed;
    run.out = options.out / run.label;
    if (!options.out.empty()) check_directory(run.out, run.config);
  }
  const sweep::DispatchOptions how{.threads = options.threads};
  sweep::check_dispatch(runs, how);
  fs::path out = options.out;
  if (out.empty()) {
    out = make_numbered();
    for (sweep::SweepRun& run : runs) run.out = out / run.label;
  }
  fs::create_directories(out);

  SideBySide shown(runs, {.quiet = options.quiet, .log = options.log});
  const sweep::SweepOutcome outcome = sweep::train_runs(runs, how, shown);
  tell(runs, out, options.quiet);
  if (outcome.stopped) {
    complain("hearsay: stopped; the same command {}goes on\n",
             options.out.empty() ? fmt::format("with --out {} ", shell_word(out.string())) : "");
    return kStopped;
  }
  return outcome.count(How::kFailed) + outcome.count(How::kElsewhere) > 0 ? 1 : 0;
}

}  // namespace hearsay::cli
