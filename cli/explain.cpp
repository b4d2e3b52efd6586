#include "cli/explain.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "hearsay/core/spec.h"

namespace hearsay::cli {

namespace {

/// The command that was chosen so far, and the words that chose it.
struct Chosen {
  const CLI::App* command;
  std::string words;
};

Chosen chosen_in(const CLI::App& app) {
  Chosen chosen{&app, app.get_name()};
  while (!chosen.command->get_subcommands().empty()) {
    chosen.command = chosen.command->get_subcommands().front();
    chosen.words += " " + chosen.command->get_name();
  }
  return chosen;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view close = nearest(word, views);
  return close.empty() ? "" : fmt::format(" (did you mean '{}'?)", close);
}

}  // namespace

std::string no_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* known : app.get_subcommands(nullptr)) {
    if (!known->get_group().empty()) names.push_back(known->get_name());
  }
  return fmt::format("there is no command '{}'{}", word, suggestion(word, names));
}

bool hides_a_mistake(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::CallForHelp*>(&error) == nullptr) return false;
  const std::vector<std::string> extras = app.remaining(true);
  return !chosen_in(app).command->get_subcommands(nullptr).empty() && !extras.empty() &&
         !extras.front().starts_with('-');
}

std::string explain(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const Chosen chosen = chosen_in(app);
  const CLI::App& command = *chosen.command;
  const std::string where =
      &command == &app ? chosen.words : chosen.words.substr(chosen.words.find(' ') + 1);
  const std::string help = chosen.words + " --help";
  const bool chooses = !command.get_subcommands(nullptr).empty();
  const std::vector<std::string> extras = app.remaining(true);
  const auto extra = std::find_first_of(argv + 1, argv + argc, extras.begin(), extras.end());
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  // CLI11 misses a subcommand, or gives help, before it looks at the word that stands in its place.
  const bool misses = chooses && code == CLI::ExitCodes::RequiredError;
  const bool helps = code == CLI::ExitCodes::Success;
  if ((code != CLI::ExitCodes::ExtrasError && !misses && !helps) || extra == argv + argc) {
    return fmt::format("[{}] {}; see {}", where, misses ? "a command is missing" : error.what(),
                       help);
  }
  const std::string_view word = *extra;
  if (!word.starts_with('-')) {
    return chooses ? fmt::format("[{}] {}; see {}", where, no_command(command, word), help)
                   : fmt::format("[{}] '{}' is one word too many; see {}", where, word, help);
  }
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  return fmt::format("[{}] there is no option '{}'{}; see {}", where, word, suggestion(word, names),
                     help);
}

}  // namespace hearsay::cli
