#include <signal.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "cli/live.h"
#include "cli/stop.h"
#include "cli/terminal/complain.h"
#include "cli/terminal/shell_word.h"
#include "hearsay/core/error.h"
#include "hearsay/core/text.h"
#include "hearsay/report/evaluation_text.h"
#include "hearsay/report/page/page.h"
#include "hearsay/run/peer/peer_run.h"

namespace hearsay::cli {

namespace {

namespace fs = std::filesystem;

struct PeerOptions {
  std::string fleet, identity, out, resume, listen, data, least_round;
  std::optional<std::uint32_t> wait_for;
  std::uint64_t threads = 0;
  bool quiet = false;
  LiveOptions live;
};

std::atomic<bool> reload_wanted = false;

/// SIGHUP: read the fleet file again.
void catch_hangup() {
  struct sigaction action {};
  action.sa_handler = [](int) { reload_wanted = true; };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGHUP, &action, nullptr);
}

/// "50ms", "0.05s" or "0.05", in seconds.
double read_seconds(const std::string& text) {
  if (text.empty()) return 0;
  std::size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
  }
  const std::string unit = text.substr(end);
  const bool valid = value >= 0 && value <= 3600 && (unit.empty() || unit == "s" || unit == "ms");
  if (!valid) {
    throw InvalidArgument(fmt::format(
        "[min-round] '{}' is no duration of at most an hour; give 50ms or 0.05s", text));
  }
  return unit == "ms" ? value / 1e3 : value;
}

/// Prints evaluations on standard output and events, which come from other threads, on standard
/// error.
class PeerObserver final : public run::Observer {
 public:
  explicit PeerObserver(bool quiet) : quiet_(quiet) {}

  /// An event, which --quiet keeps silent.
  void say(const std::string& event) {
    if (!quiet_) say_always(event);
  }
  void say_always(const std::string& text) {
    const std::lock_guard lock(mutex_);
    complain("hearsay: {}\n", text);
  }

  void resumed(std::uint64_t round, const std::vector<std::string>& damaged) override {
    for (const std::string& what : damaged) say(fmt::format("cannot use what it kept: {}", what));
    if (round > 0) say(fmt::format("has a model of round {}", round));
  }
  void evaluated(const train::RunView& run, const train::Metrics& metrics) override {
    if (quiet_) return;
    const std::lock_guard lock(mutex_);
    // A terminal that is gone must not end the run: what cannot be written is lost.
    std::string line = fmt::format("round {:>{}}  loss {:<9.4g}", metrics.round,
                                   fmt::format("{}", run.total_rounds()).size(), metrics.loss);
    for (const train::MetricResult& result : metrics.results) {
      if (result.by_peer.empty() || !result.mean) continue;
      line += fmt::format(" {} {} ", result.metric.key,
                          report::peer_value_text(result.metric, *result.mean));
    }
    line += fmt::format(" {:.0f} of {} live  {:.3g} rounds/s  {} sent\n",
                        metrics.asynchronous.live.value_or(1), run.peers(),
                        metrics.asynchronous.rates_min.value_or(0),
                        human_bytes(static_cast<double>(metrics.traffic.bytes)));
    std::fputs(line.c_str(), stdout);
    std::fflush(stdout);  // a log file is to show it now
  }
  bool stop_requested() override { return cli::stop_requested(); }

 private:
  bool quiet_;
  std::mutex mutex_;
};

/// Absolute: --resume may come from another directory.
fs::path file_of(const std::string& text, std::string_view what) {
  std::error_code error;
  if (!fs::is_regular_file(text, error)) {
    throw InvalidArgument(fmt::format("[peer] there is no {} file '{}'", what, text));
  }
  return fs::absolute(text);
}

run::PeerSettings settings_of(const PeerOptions& options) {
  if (options.fleet.empty() || options.identity.empty() || options.out.empty()) {
    throw InvalidArgument(
        "[peer] a fleet file, --identity FILE and --out DIR are needed; or --resume DIR alone");
  }
  run::PeerSettings settings{.fleet = file_of(options.fleet, "fleet"),
                             .identity = options.identity,
                             .data = options.data,
                             .least_round = read_seconds(options.least_round)};
  if (options.wait_for) settings.wait_for = *options.wait_for;
  std::error_code error;  // what is wrong with the key, its reader says
  if (fs::exists(settings.identity, error)) settings.identity = fs::absolute(options.identity);
  if (!options.listen.empty()) settings.listen = net::parse_address(options.listen);
  return settings;
}

int peer_command(const PeerOptions& options) {
  catch_signals();
  catch_hangup();
  const bool resumes = !options.resume.empty();
  const bool has_more = !options.fleet.empty() || !options.identity.empty() ||
                        !options.out.empty() || !options.listen.empty() || !options.data.empty() ||
                        !options.least_round.empty() || options.wait_for;
  if (resumes && has_more) {
    throw InvalidArgument(fmt::format(
        "[peer] --resume takes its settings from {}/peer.toml; drop the others", options.resume));
  }
  const fs::path out = resumes ? options.resume : options.out;
  const run::PeerSettings settings = resumes ? run::read_peer_settings(out) : settings_of(options);
  train::RunOptions config = run::options_of_fleet(net::read_fleet(settings.fleet), settings);
  if (options.threads > 0) config.threads = options.threads;
  PeerObserver observer(options.quiet);
  std::optional<live::PageProcess> page;  // until report.html is written
  std::optional<LiveObserver> live;
  if (options.live.port()) {
    page.emplace(options.live.address(), *options.live.port());
    live.emplace(
        observer, [&](const std::string& text) { observer.say_always(text); }, *page, out);
  }
  run::Outcome outcome;
  {
    run::PeerRun run({.config = config,
                      .settings = settings,
                      .out = out,
                      .observer = live ? static_cast<run::Observer&>(*live) : observer,
                      .say = [&](const std::string& event) { observer.say(event); },
                      .reload = [] { return reload_wanted.exchange(false); }});
    outcome = resumes ? run.begin_again() : run.begin();
  }
  for (const run::Warning& warning : outcome.warnings) {
    complain("hearsay: warning: {}\n", warning.text());
  }
  std::error_code error;
  if (fs::exists(out / "metrics.jsonl", error)) report::write_page(out);
  const char* before = options.quiet ? "" : "run directory: ";
  std::fputs(fmt::format("{}{}\n", before, out.string()).c_str(), stdout);
  if (outcome.finished) return 0;
  complain("hearsay: left at round {}; go on with: hearsay peer --resume {}\n", outcome.round,
           shell_word(out.string()));
  return kStopped;
}

}  // namespace

Action add_peer(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "peer", "Train as one peer of a fleet, which talk over TLS and wait for nobody");
  auto options = std::make_shared<PeerOptions>();
  const auto text = [&](const char* name, std::string& value, const char* meaning,
                        const char* type) {
    return command->add_option(name, value, meaning)->type_name(type);
  };
  text("fleet", options->fleet, "the fleet file: who may talk to whom, and what is trained",
       "FLEET.toml");
  text("--identity", options->identity, "the key of this peer, made by hearsay identity new",
       "FILE");
  text("--out", options->out, "run directory", "DIR");
  text("--resume", options->resume, "go on with the run in DIR", "DIR");
  text("--listen", options->listen,
       "where to listen; default: the port of its address in the fleet file, on all interfaces",
       "ADDRESS:PORT");
  text(
      "--data", options->data,
      "what this device trains on, with partition own (hearsay list data); default: what the fleet "
      "file says",
      "SPEC");
  text("--min-round", options->least_round,
       "a round takes at least this long, such as 50ms; default: as fast as it can", "DURATION");
  command
      ->add_option("--wait-for", options->wait_for,
                   "peers that a new run waits for, itself counted; default: 2")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->add_option("--threads", options->threads, "threads; default: one per core")
      ->type_name("N");
  options->live.add_to(*command);
  command->add_flag("--quiet", options->quiet, "print errors and the run directory only");
  return [options] {
    if (const std::string file = options->live.read(); !file.empty()) {
      if (!options->fleet.empty()) {
        throw InvalidArgument(fmt::format("[live] a port is a number up to 65535, got {}", file));
      }
      options->fleet = file;
    }
    return peer_command(*options);
  };
}

}  // namespace hearsay::cli
