#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/manual/completion.h"

namespace hearsay::cli {

namespace {

using Kind = Completion::Kind;

/// The body of _hearsay around the cases of the commands. `value` says what can stand at the
/// cursor: "words ...", "files .toml", "directories" or "nothing".
constexpr std::string_view kBegin =
    R"(# Completion for bash, made by hearsay from its tables of options and components.
_hearsay() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  # bash takes --graph=ring for three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  local command= options= value=nothing
  ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}
  case $command in
)";
constexpr std::string_view kEnd = R"(  esac
  if [[ $cur == -* ]]; then
    value="words $options"
  fi
  COMPREPLY=()
  case $value in
    words*) mapfile -t COMPREPLY < <(compgen -W "${value#words}" -- "$cur") ;;
    directories)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    files*)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$cur"; compgen -f -X "!*${value#files }" -- "$cur") ;;
  esac
}
complete -F _hearsay hearsay
)";

std::string value_of(const Completion& completion) {
  switch (completion.kind) {
    case Kind::kNothing:
      break;
    case Kind::kFiles:
      return "files " + completion.ending;
    case Kind::kDirectories:
      return "directories";
    case Kind::kWords:
      return fmt::format("words {}", fmt::join(completion.words, " "));
  }
  return "nothing";
}

/// What stands where no option wants a value: an argument, or a command.
std::string without_option(const CommandText& command) {
  if (!command.arguments.empty()) return value_of(command.arguments.front().completion);
  if (command.commands.empty()) return "nothing";
  std::string words = "words";
  for (const CommandText& inner : command.commands) words += " " + inner.words.back();
  return words;
}

std::string lines_of(const CommandText& command, const std::string& indent) {
  std::string options, cases;
  for (const OptionText& option : command.options) {
    options += fmt::format("{}{}", options.empty() ? "" : " ", fmt::join(option.names, " "));
    if (option.value.empty() || option.may_lack_value) continue;
    cases += fmt::format("{}  {}) value='{}' ;;\n", indent, fmt::join(option.names, " | "),
                         value_of(option.completion));
  }
  return fmt::format("{0}options='{1}'\n{0}case $prev in\n{2}{0}  *) value='{3}' ;;\n{0}esac\n",
                     indent, options, cases, without_option(command));
}

}  // namespace

std::string bash_completion(const CommandText& program) {
  std::string text(kBegin);
  text += "    '')\n" + lines_of(program, "      ") + "      ;;\n";
  for (const CommandText& command : program.commands) {
    text += fmt::format("    {})\n{}", command.words.back(), lines_of(command, "      "));
    if (!command.commands.empty()) {
      text += "      ((COMP_CWORD > 2)) && case ${COMP_WORDS[2]} in\n";
      for (const CommandText& inner : command.commands) {
        text += fmt::format("        {})\n{}          ;;\n", inner.words.back(),
                            lines_of(inner, "          "));
      }
      text += "      esac\n";
    }
    text += "      ;;\n";
  }
  return text + std::string(kEnd);
}

}  // namespace hearsay::cli
