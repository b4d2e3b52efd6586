#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "cli/live.h"
#include "cli/processes.h"
#include "cli/seeds.h"
#include "cli/several.h"
#include "cli/stop.h"
#include "cli/terminal/complain.h"
#include "cli/terminal/logged.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/shell_word.h"
#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/backend/device.h"
#include "hearsay/core/durable_file.h"
#include "hearsay/core/error.h"
#include "hearsay/gossip/ledger.h"
#include "hearsay/report/page/page.h"
#include "hearsay/report/table.h"
#include "hearsay/run/compare.h"
#include "hearsay/run/run.h"
#include "hearsay/sweep/sweep_file.h"
#include "hearsay/train/run_options.h"
#include "hearsay/transport/registry.h"

namespace hearsay::cli {

namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  std::vector<std::string> config_files;
  std::string out, resume, seeds, transport = "auto", log = "none";
  bool quiet = false, wide = false;
  LiveOptions live;
  std::map<std::string, std::string> settings;  // by key of train::options()
};

/// Whether this is the config.toml of a run directory, which repeats the run.
bool is_of_run(const fs::path& file) {
  std::error_code error;
  return file.filename() == "config.toml" &&
         fs::exists(file.parent_path() / "metrics.jsonl", error);
}

/// Whether it reads as a sweep (docs/sweeps.md).
bool is_sweep(const std::string& text, const std::string& file) {
  try {
    sweep::parse_sweep_file(text, file);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

/// Reads a config file into `config`; returns whether it sets anything that changes results.
bool read_file_into(train::RunOptions& config, const std::string& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    throw InvalidArgument(fmt::format("[train] there is no file '{}'", file));
  }
  const std::string text = read_file(file);
  bool changes = false;
  try {
    for (const train::Option* option : config.read_toml(text, file)) {
      changes |= option->changes_results;
    }
  } catch (const InvalidArgument&) {
    if (!is_sweep(text, file)) throw;
    throw InvalidArgument(
        fmt::format("[train] {0} is a sweep, not the config of a run; use: hearsay sweep {1}", file,
                    shell_word(file)));
  }
  if (is_of_run(file)) train::rename_older(config);
  return changes;
}

/// The settings of `file` (none if that is empty) and of the command line.
train::RunOptions read_config(const TrainOptions& options, const std::string& file) {
  train::RunOptions config;
  bool changed = false;  // whether anything that changes results is given, be it the default
  if (!file.empty()) changed |= read_file_into(config, file);
  const std::string device_of_file = config.device;
  for (const auto& [key, value] : options.settings) {
    if (!value.empty()) changed |= config.set(key, value).changes_results;
  }
  changed |= !options.seeds.empty();
  if (changed && config.compare == train::Compare::kAuto) config.compare = train::Compare::kNo;
  // A flag overrides the file, also where the two are alternatives.
  const auto given = [&](const char* key) { return !options.settings.at(key).empty(); };
  if (given("rounds") && !given("epochs")) config.epochs = 0;
  if (given("epochs") && !given("rounds")) config.rounds = 0;
  const bool no_precision = config.precision == "auto" || config.precision == "none";
  if (given("precision") && !given("device") && !no_precision) {
    config.device = backend::with_precision(config.device, config.precision);
  }
  if (given("device") && !given("precision") && !no_precision) {
    // A precision that was not asked for, in the config.toml of a run, is that of its device.
    const auto devices = backend::device_registry();
    const std::string name(devices.find(device_of_file).name);
    if (config.precision == devices.arguments(name).text("precision")) config.precision = "auto";
  }
  return config;
}

/// --resume DIR takes all settings from DIR; returns the threads to use, 0 for those of DIR.
std::uint64_t threads_to_resume_with(const TrainOptions& options) {
  for (const auto& [key, value] : options.settings) {
    if (value.empty() || key == "threads") continue;
    throw InvalidArgument(fmt::format(
        "[train] --resume takes its settings from {}/config.toml; drop --{}", options.resume, key));
  }
  if (!options.config_files.empty() || !options.out.empty()) {
    throw InvalidArgument("[train] --resume DIR goes on in DIR; drop the config file and --out");
  }
  train::RunOptions check;
  if (const std::string& threads = options.settings.at("threads"); !threads.empty()) {
    check.set("threads", threads);
  }
  return check.threads;
}

/// Trains the baselines, if the run has any, and shows them beside it. Returns whether they
/// finished.
bool compare(const fs::path& out, std::uint64_t threads, bool quiet, bool terminal,
             gossip::ProcessGroup& group) {
  if (!run::wants_controls(out)) return true;
  if (!quiet) fmt::print("\nbaselines: no communication, and uncompressed ...\n");
  std::fflush(stdout);
  const auto observer = make_progress({.lines = false, .block = terminal && !quiet});
  const run::ControlsOutcome outcome = run::run_controls(out, threads, *observer, group);
  for (const std::string& warning : outcome.warnings) {
    if (group.leads()) complain("hearsay: warning: {}\n", warning);
  }
  if (!outcome.finished) return false;
  if (!quiet) fmt::print("\n{}", report::control_table(out));
  return true;
}

/// Says, before a run in 8 bits, if this machine is slow at it. Returns whether it was said.
bool warn_of_slow_products(const std::string& device, const gossip::ProcessGroup& group) {
  const auto arguments = backend::device_registry().arguments(device);
  if (arguments.name() != "cpu" || arguments.text("precision") != "int8") return false;
  using backend::cpu::has_byte_product_set;
  if (has_byte_product_set("amx") || has_byte_product_set("avx512-vnni") || !group.leads()) {
    return false;
  }
  complain(
      "hearsay: note: this machine has neither AMX nor AVX-512 VNNI: 8 bits train with {} "
      "products, slower and with the same result\n",
      backend::cpu::byte_product_set());
  return true;
}

/// Where the results are: with --quiet the run directory alone, for scripts.
void print_end(const fs::path& out, bool quiet) {
  if (quiet) return fmt::print("{}\n", out.string());
  fmt::print("\nrun directory: {}\npage: {}; open it in a browser, or serve it: hearsay watch {}\n",
             out.string(), (out / "report.html").string(), shell_word(out.string()));
}

/// The page of a run that has failed says why. What is wrong with the page matters less.
void write_page_of_failure(const fs::path& out) {
  try {
    report::write_page(out);
  } catch (const std::exception&) {
  }
}

/// Trains and reports the result: process 0 prints, the others do the same without printing.
int train_one(const TrainOptions& options, Run& run) {
  gossip::ProcessGroup& group = run.group;
  const bool quiet = options.quiet || !group.leads();
  const bool terminal = group.alone() && ::isatty(STDOUT_FILENO) != 0;  // mpirun always gives one
  fs::path& out = run.out;
  std::optional<live::PageProcess> page;  // until the baselines have finished
  group.agree([&] {
    if (options.live.port() && group.leads()) {
      page.emplace(options.live.address(), *options.live.port());
    }
  });
  // Before the first step in which they differ: each would wait for the others in another.
  group.agree_on("way to begin (--resume, --out or neither)", !options.resume.empty() ? "--resume"
                                                              : !options.out.empty()  ? "--out"
                                                                                      : "neither");
  run::Outcome outcome;
  std::uint64_t threads = 0;
  try {
    const auto progress =
        make_progress({.lines = !quiet, .cut = group.alone(), .block = terminal && !quiet});
    std::optional<LiveObserver> live;
    if (page)
      live.emplace(
          *progress, [&](const auto& text) { progress->say(text); }, *page, out);
    std::optional<run::TensorBoardLog> log;
    if (options.log == "tensorboard") {
      log.emplace(live ? static_cast<run::Observer&>(*live) : *progress, out, group.leads(),
                  [&](const auto& why) { Logged::warn(*progress, why); });
    }
    run::Observer& observer = log    ? static_cast<run::Observer&>(*log)
                              : live ? static_cast<run::Observer&>(*live)
                                     : *progress;
    if (!options.resume.empty()) {
      group.agree([&] { threads = threads_to_resume_with(options); });
      out = options.resume;
      group.agree([&] {  // what is wrong with the directory, `resume` says
        std::error_code error;
        if (fs::exists(out / "config.toml", error)) {
          warn_of_slow_products(train::options_of_run(out).device, group);
        }
      });
      outcome = run::resume(out, threads, observer, group);
    } else {
      const std::string file = options.config_files.empty() ? "" : options.config_files.front();
      train::RunOptions config;
      group.agree([&] {
        config = train::resolve(read_config(options, file));
        warn_of_slow_products(config.device, group);
      });
      out = options.out;
      outcome = out.empty() ? run::run_in_new("runs", config, out, observer, group)
                            : run::run(config, out, observer, group);
    }
  } catch (const gossip::NotFinite&) {
    if (group.leads()) write_page_of_failure(out);
    throw;
  }
  for (const run::Warning& warning : outcome.warnings) {
    complain("hearsay: warning: {}\n", warning.text());
  }
  if (!quiet) fmt::print("\n{}", report::run_table(outcome.summary_json, options.wide));
  if (group.leads()) report::write_page(out);  // now, and again when the baselines have finished
  const bool finished = outcome.finished && compare(out, threads, quiet, terminal, group);
  if (group.leads() && outcome.finished && run::wants_controls(out)) report::write_page(out);
  if (group.leads()) print_end(out, quiet);
  if (finished) return 0;
  const std::string where =
      outcome.finished ? "in the comparison"
      : outcome.last.round == outcome.round
          ? fmt::format("at round {}", outcome.round)
          : fmt::format("at round {}, last evaluated at {}", outcome.round, outcome.last.round);
  if (group.leads()) {
    const bool repeats = !outcome.finished && train::options_of_run(out).timing == "asynchronous";
    complain("hearsay: stopped {}; {}: hearsay train --resume {}\n", where,
             repeats ? "a simulation has no checkpoints, so this begins again" : "go on with",
             shell_word(out.string()));
  }
  return kStopped;
}

int train_several_files(const TrainOptions& options, gossip::ProcessGroup& group) {
  group.agree([&] {
    if (group.alone()) return;
    throw InvalidArgument(
        "[train] several config files run side by side in one process; start one mpirun for each");
  });
  if (options.live.port()) {
    throw InvalidArgument(
        "[live] --live is for one run; watch several with a `hearsay watch DIR` for each");
  }
  std::vector<NamedConfig> configs;
  for (const std::string& file : options.config_files) {
    configs.push_back({fs::path(file).stem().string(), train::resolve(read_config(options, file))});
  }
  for (const NamedConfig& named : configs) {
    if (warn_of_slow_products(named.config.device, group)) break;
  }
  return train_several(
      configs, options.out,
      {.quiet = options.quiet, .wide = options.wide, .log = options.log == "tensorboard"});
}

int train_each_seed(const TrainOptions& options, gossip::ProcessGroup& group) {
  const std::vector<std::uint64_t> seeds = read_seeds(options.seeds);
  group.agree([&] {
    if (group.alone()) return;
    throw InvalidArgument(
        "[train] --seeds trains several runs in one process; under mpirun give a --seed and an "
        "--out for each");
  });
  if (!options.resume.empty()) {
    throw InvalidArgument(
        "[train] --resume DIR goes on with one run; for all seeds give the same --seeds and --out "
        "again");
  }
  if (!options.settings.at("seed").empty()) {
    throw InvalidArgument("[train] --seed and --seeds exclude each other; drop one");
  }
  if (options.config_files.size() > 1) {
    throw InvalidArgument("[train] --seeds is for one config file; start it for each");
  }
  if (options.live.port()) {
    throw InvalidArgument(
        "[live] --live is for one run; watch a seed with `hearsay watch DIR/seed-1`");
  }
  const std::string file = options.config_files.empty() ? "" : options.config_files.front();
  const train::RunOptions config = train::resolve(read_config(options, file));
  warn_of_slow_products(config.device, group);
  SeedsOptions how{.out = options.out, .quiet = options.quiet, .log = options.log == "tensorboard"};
  if (!options.settings.at("threads").empty()) how.threads = config.threads;
  return train_seeds(config, seeds, how);
}

int train_command(const TrainOptions& options) {
  catch_signals();
  if (spec_name(options.transport) == "tls") complain("hearsay: connecting with the others ...\n");
  const auto transport = transport::make_transport(options.transport);
  return in_all_processes(*transport, [&](Run& run) {
    if (!options.seeds.empty()) return train_each_seed(options, run.group);
    const bool several = options.config_files.size() > 1 && options.resume.empty();
    return several ? train_several_files(options, run.group) : train_one(options, run);
  });
}

}  // namespace

Action add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "train", "Train; without arguments: 4 peers on a directed ring, top-1 %, handwritten digits");
  auto options = std::make_shared<TrainOptions>();
  const auto not_empty = [](const std::string& value) {
    return std::string(value.empty() ? "must not be empty" : "");
  };
  command
      ->add_option("config", options->config_files,
                   "TOML file; its keys are the long options. Several: a run each, side by side "
                   "where a GPU can, into DIR/NAME of --out DIR")
      ->type_name("CONFIG.toml...");
  for (const train::Option& option : train::options()) {
    const std::string key(option.key);
    std::string meaning(option.meaning);
    const std::string fallback = option.text(train::RunOptions());
    if (fallback != "auto" && fallback != "none" && fallback != "0") {  // `meaning` explains these
      meaning += "; default: " + fallback;
    }
    const std::string flags = (key == "peers" ? "-n,--" : "--") + key;
    command->add_option(flags, options->settings[key], meaning)
        ->type_name(std::string(option.value_name))
        ->check(not_empty);
  }
  command->add_option("--out", options->out, "run directory; default: runs/001, 002, ...")
      ->type_name("DIR")
      ->check(not_empty);
  command->add_option("--resume", options->resume, "go on with the run in DIR")
      ->type_name("DIR")
      ->check(not_empty);
  command
      ->add_option("--transport", options->transport,
                   "how processes talk (hearsay list transports); default: auto, what mpirun says")
      ->type_name("SPEC")
      ->check(not_empty);
  command
      ->add_option("--seeds", options->seeds,
                   "a run for each seed, into DIR/seed-S of --out DIR, and their mean and standard "
                   "deviation; the same command goes on where it was stopped")
      ->type_name("S,...")
      ->check(not_empty);
  command
      ->add_option("--log", options->log,
                   "tensorboard: also write every evaluation to an event file in the run directory")
      ->type_name("none|tensorboard")
      ->check(CLI::IsMember({"none", "tensorboard"}));
  options->live.add_to(*command);
  command->add_flag("--wide", options->wide, "all columns of the table, however wide it becomes");
  command->add_flag("--quiet", options->quiet, "print the run directory and nothing else");
  return [options] {
    if (const std::string file = options->live.read(); !file.empty()) {
      options->config_files.push_back(file);
    }
    return train_command(*options);
  };
}

}  // namespace hearsay::cli
