#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

/// The command line as data, from the tables that parse it: what man pages and completions are made
/// of.
namespace hearsay::cli {

/// What a shell can offer for a value.
struct Completion {
  enum class Kind { kNothing, kFiles, kDirectories, kWords };
  Kind kind = Kind::kNothing;
  std::string ending;              ///< of kFiles: ".toml", or empty
  std::vector<std::string> words;  ///< of kWords: names of components, choices
};

/// An option, or a positional argument.
struct OptionText {
  std::vector<std::string> names;  ///< "-n", "--peers"; of an argument its name, "spec"
  std::string value;               ///< "SPEC"; of a flag empty
  std::string meaning;
  Completion completion;
  bool may_lack_value = false;  ///< --live [PORT]
  bool required = false;
};

struct CommandText {
  std::vector<std::string> words;  ///< "identity", "new"; of the program itself none
  std::string summary;
  std::vector<OptionText> options, arguments;
  std::vector<CommandText> commands;
};

/// The program and its commands; what --help does not show is left out.
CommandText describe(const CLI::App& app);

}  // namespace hearsay::cli
