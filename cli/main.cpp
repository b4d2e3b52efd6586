#include <fcntl.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/command/commands.h"
#include "cli/explain.h"
#include "cli/stop.h"
#include "cli/terminal/complain.h"
#include "cli/terminal/help.h"
#include "hearsay/core/error.h"
#include "hearsay/core/version.h"
#include "hearsay/transport/mpi/mpi.h"

namespace {

int run(int argc, char** argv) {
  using namespace hearsay::cli;
  CLI::App app{"Train one model across many peers that only talk to their neighbours.", "hearsay"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("-V,--version", fmt::format("hearsay {}", hearsay::version()),
                       "Print the version and exit");
  app.require_subcommand(0, 1);

  std::vector<std::pair<CLI::App*, Action>> commands;
  for (auto* add : {add_train, add_sweep, add_graph, add_cost, add_list, add_report, add_watch,
                    add_eval, add_export, add_peer, add_identity, add_help, add_generate}) {
    Action action = add(app);
    commands.emplace_back(app.get_subcommands(nullptr).back(), std::move(action));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version
    if (error.get_exit_code() == 0 && !hides_a_mistake(app, error)) return app.exit(error);
    throw hearsay::InvalidArgument(explain(app, error, argc, argv));
  }
  for (const auto& [command, action] : commands) {
    if (!command->parsed()) continue;
    return action();
  }
  fmt::print("{}", app.help());
  return 0;
}

/// An error in the command line is found by all processes of an mpirun, and reported by process 0.
/// When it exits, mpirun ends the others; if another exited first, process 0 would be ended before
/// it has reported. So the others wait, and one that is not ended was the only one with the error
/// and reports it.
void say(const std::exception& error) {
  const std::size_t process = hearsay::transport::launched_rank();
  if (process == 0) {
    hearsay::cli::complain("hearsay: {}\n", hearsay::message_of(error));
    return;
  }
  using Clock = std::chrono::steady_clock;
  const auto patience = Clock::now() + std::chrono::seconds(10);
  while (Clock::now() < patience) {
    if (hearsay::cli::stop_requested()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  hearsay::cli::complain("hearsay: process {}: {}\n", process, hearsay::message_of(error));
}

/// A standard stream may have been closed by the parent process. Its number would be given to the
/// next file that is opened, and output would go into that file: so such a stream is opened as
/// /dev/null.
void open_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {  // a new descriptor gets the lowest free number
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) return;
  }
}

}  // namespace

/// Exit status: 0 done, 2 user error, 130 stopped by Ctrl-C, 1 anything that failed at run time
/// (docs/errors.md).
int main(int argc, char** argv) {
  open_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // beyond ulimit -f writing fails, with a reason
  try {
    const int status = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw hearsay::RunFailed(
          "[output] what was to be printed could not be written in whole; is the disk full?");
    }
    return status;
  } catch (const std::exception& error) {
    say(error);
    return hearsay::cli::status_of(error);
  }
}
