#include <filesystem>
#include <map>
#include <memory>
#include <span>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "cli/stop.h"
#include "cli/terminal/complain.h"
#include "cli/terminal/side_by_side.h"
#include "cli/terminal/sweep_progress.h"
#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/core/text.h"
#include "hearsay/report/page/page.h"
#include "hearsay/report/runs.h"
#include "hearsay/report/seeds.h"
#include "hearsay/report/sweep_table.h"
#include "hearsay/sweep/run_sweep.h"
#include "hearsay/sweep/sweep_record.h"
#include "hearsay/sweep/unfit.h"

namespace hearsay::cli {

namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  std::string file, out;
  std::size_t jobs = 1;
  bool quick = false, markdown = false, wide = false, dry_run = false, quiet = false;
  std::vector<std::string> where, rows;
  std::vector<std::uint64_t> seeds;
  std::map<std::string, std::string> settings;  // by key of train::options()
};

sweep::Sweep read(const SweepOptions& options) {
  sweep::SweepOptions given{.quick = options.quick, .seeds = options.seeds, .rows = options.rows};
  for (const std::string& pair : options.where) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals + 1 == pair.size()) {
      throw InvalidArgument(
          fmt::format("[sweep] --where must be NAME=PATH, as cifar10=data/cifar, got '{}'", pair));
    }
    given.where[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  for (const auto& [key, value] : options.settings) {
    if (!value.empty()) given.settings[key] = value;
  }
  return sweep::read_sweep_file(options.file, given);
}

/// This same program trains the runs, in processes of its own where they are on the CPU.
sweep::DispatchOptions dispatch(const SweepOptions& options) {
  sweep::DispatchOptions given{.program = "/proc/self/exe", .jobs = options.jobs};
  if (const std::string& threads = options.settings.at("threads"); !threads.empty()) {
    train::RunOptions config;
    config.set("threads", threads);
    given.threads = config.threads;
  }
  return given;
}

/// Prints what would be done (--dry-run); throws InvalidArgument for what cannot be.
void print_plan(const sweep::Sweep& sweep, const sweep::SweepRuns& all) {
  const sweep::Unfit unfit = sweep::find_unfit(sweep, all);
  constexpr const char* kStates[] = {"open", "begun", "by another process", "finished"};
  std::vector<std::vector<std::string>> lines{{"run", "state", "directory"}};
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    const sweep::SweepRun& run = all.runs[i];
    if (!run.wanted || unfit.runs.contains(i)) continue;
    lines.push_back(
        {run.label, kStates[static_cast<std::size_t>(sweep::state_of(run))], run.out.string()});
  }
  if (lines.size() > 1) fmt::print("{}", format_table(lines));
  for (const sweep::SweepRow& row : sweep.rows) {
    if (row.wanted && !row.missing.empty())
      fmt::print("not run ({}): {}\n", row.missing, row.label);
  }
  if (unfit.count > 0) throw InvalidArgument(sweep::unfit_text(sweep, all, unfit));
}

/// Returns the exit status.
int train_sweep(const sweep::Sweep& sweep, const fs::path& out, const SweepOptions& options) {
  const sweep::DispatchOptions how = dispatch(options);
  const std::vector<sweep::SweepRun> runs = sweep::prepare_sweep(sweep, out, how);
  if (!sweep::in_processes(runs, how)) {
    SideBySide shown(runs, {.quiet = options.quiet, .wide = options.wide});
    const int status = shown.train(how);
    sweep::record_failures(sweep, out, runs, shown.outcome());
    return status;
  }
  SweepProgress shown(runs, options.quiet);
  const sweep::SweepOutcome outcome = sweep::train_runs(runs, how, shown);
  shown.wipe();
  sweep::record_failures(sweep, out, runs, outcome);
  if (outcome.stopped) return kStopped;
  return outcome.count(sweep::RunEnd::How::kFailed) > 0 ? 1 : 0;
}

/// Prints the table on standard output, and writes the page beside the record.
void tell(const SweepOptions& options, const fs::path& file) {
  const std::string names[] = {file.string()};
  const report::Runs runs = report::read_runs(names);
  for (const std::string& problem : runs.problems) {
    complain("hearsay: left out: {}\n", problem);
  }
  for (const report::ShownSweep& sweep : runs.sweeps) {
    fmt::print("{}{}", options.quiet ? "" : "\n",
               report::sweep_text(sweep.record, sweep.table, options.markdown, options.wide));
  }
  if (runs.runs.empty()) return;
  const fs::path path = fs::path(file).replace_extension().replace_extension(".html");
  const fs::path results = fs::path(path).replace_extension(".results.json");
  for (const auto& [name, text] :
       {std::pair(path, report::make_page(runs).html), {results, report::results_json(runs)}}) {
    DurableFile written(name, DurableFile::Writers::kSeveral);
    written.write(text);
    written.commit();
  }
  if (!options.quiet) fmt::print("\npage: {}\n", path.string());
}

int sweep_command(const SweepOptions& options) {
  catch_signals();
  const sweep::Sweep sweep = read(options);
  const fs::path out =
      options.out.empty() ? fs::path("runs") / sweep::name_of(sweep) : fs::path(options.out);
  if (options.dry_run) {
    print_plan(sweep, sweep::runs_of(sweep, out));
    return 0;
  }
  const int status = train_sweep(sweep, out, options);
  tell(options, sweep::record_path(sweep, out));
  if (status == kStopped) complain("hearsay: stopped; the same command goes on\n");
  return status;
}

}  // namespace

Action add_sweep(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "sweep", "Train the rows of a table, and show it beside what a paper prints");
  auto options = std::make_shared<SweepOptions>();
  const auto not_empty = [](const std::string& value) {
    return std::string(value.empty() ? "must not be empty" : "");
  };
  command->add_option("file", options->file, "the rows, in TOML (docs/sweeps.md)")
      ->required()
      ->type_name("FILE.toml");
  command
      ->add_option("--out", options->out,
                   "folder for the runs; default: runs/NAME, by the file's. Finished runs in it "
                   "are kept, begun ones go on, and sweeps with a common folder share theirs")
      ->type_name("DIR")
      ->check(not_empty);
  command->add_option("--jobs", options->jobs, "runs at a time, on the CPU; default: 1")
      ->type_name("K")
      ->check(CLI::Range(1, 1024));
  command->add_flag(
      "--quick", options->quick,
      "the file's small version: a minute or two at most, to see the shape of the result");
  command
      ->add_option("--where", options->where,
                   "where the files of a dataset lie, as cifar10=PATH; once for each")
      ->type_name("NAME=PATH")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--row", options->rows, "train only the rows of that label; may be repeated")
      ->type_name("LABEL")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--seeds", options->seeds, "train only these, of the file's or others: 1,2,3")
      ->type_name("S,...")
      ->check([](const std::string& seed) {
        const bool whole = !seed.empty() && seed.find_first_not_of("0123456789") == seed.npos;
        return std::string(whole ? "" : "must be whole numbers joined by ',', as 1,2,3");
      })
      ->delimiter(',');
  command->add_flag("--markdown", options->markdown, "print the tables as Markdown");
  command->add_flag("--wide", options->wide, "tables in one piece, however wide they become");
  command->add_flag("--dry-run", options->dry_run, "print what would be run, and how far it is");
  command->add_flag("--quiet", options->quiet, "print the table and errors only");
  for (const train::Option& option : train::options()) {
    if (option.key == "seed" || option.key == "compare") continue;
    const std::string key(option.key);
    command
        ->add_option((key == "peers" ? "-n,--" : "--") + key, options->settings[key],
                     "in all rows: " + std::string(option.meaning))
        ->type_name(std::string(option.value_name))
        ->check(not_empty)
        ->group("Settings of all runs");
  }
  return [options] { return sweep_command(*options); };
}

}  // namespace hearsay::cli
