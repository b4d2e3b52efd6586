#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace hearsay::cli {

/// "there is no command 'trian' (did you mean 'train'?)", of those that `app` has.
std::string no_command(const CLI::App& app, std::string_view word);

/// Whether --help was given behind a word that is no command: that is an error, not a wish for the
/// program's help.
bool hides_a_mistake(const CLI::App& app, const CLI::ParseError& error);

/// The error in a command line, in the format of all other messages.
std::string explain(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv);

}  // namespace hearsay::cli
