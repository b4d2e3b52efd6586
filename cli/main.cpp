#include <exception>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "hearsay/core/error.h"
#include "hearsay/core/version.h"

namespace {

constexpr int kOk = 0;
constexpr int kRunFailed = 1;
constexpr int kUserMistake = 2;

int run(int argc, char** argv) {
  using namespace hearsay::cli;
  CLI::App app{"Train one model across many peers that only talk to their neighbours.", "hearsay"};
  app.set_version_flag("--version", fmt::format("hearsay {}", hearsay::version()));
  app.require_subcommand(0, 1);

  std::vector<std::pair<CLI::App*, Action>> commands;
  for (auto* add : {add_train, add_graph, add_list, add_report}) {
    Action action = add(app);
    commands.emplace_back(app.get_subcommands(nullptr).back(), std::move(action));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version arrive here too, with the status of success; CLI11 prints all three.
    return app.exit(error) == 0 ? kOk : kUserMistake;
  }
  for (const auto& [command, action] : commands) {
    if (!command->parsed()) continue;
    action();
    return kOk;
  }
  fmt::print("{}", app.help());
  return kOk;
}

}  // namespace

/// Exit status: 0 done, 2 a mistake of the user, 1 anything that failed at run time
/// (docs/errors.md).
int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const hearsay::InvalidArgument& error) {
    fmt::print(stderr, "hearsay: {}\n", error.what());
    return kUserMistake;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hearsay: {}\n", error.what());
    return kRunFailed;
  }
}
