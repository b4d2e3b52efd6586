#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "cli/command/commands.h"
#include "cli/explain.h"
#include "hearsay/core/error.h"

namespace hearsay::cli {

namespace {

/// Throws InvalidArgument.
const CLI::App& command_named(const CLI::App& app, const std::string& word, const std::string& of) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == word) return *command;
  }
  throw InvalidArgument(fmt::format("[help] {}; see {} --help", no_command(app, word), of));
}

}  // namespace

Action add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Print the help of a command, as its --help does");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("command", *words, "its name; default: the program's help")
      ->type_name("COMMAND");
  return [&app, words] {
    const CLI::App* chosen = &app;
    std::string name = app.get_name();
    for (const std::string& word : *words) {
      chosen = &command_named(*chosen, word, name);
      name += " " + word;
    }
    fmt::print("{}", chosen->get_formatter()->make_help(chosen, name, CLI::AppFormatMode::Normal));
    return 0;
  };
}

}  // namespace hearsay::cli
