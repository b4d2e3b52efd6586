#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/manual/completion.h"

namespace hearsay::cli {

namespace {

using Kind = Completion::Kind;

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// What is offered for a value. `-x`: needed, and no files besides.
std::string value(const Completion& completion) {
  switch (completion.kind) {
    case Kind::kNothing:
      break;
    case Kind::kFiles:
      return completion.ending.empty()
                 ? "-r -F"
                 : fmt::format("-x -a '(__fish_complete_suffix {})'", completion.ending);
    case Kind::kDirectories:
      return "-x -a '(__fish_complete_directories)'";
    case Kind::kWords:
      return fmt::format("-x -a {}",
                         in_quotes(fmt::format("{}", fmt::join(completion.words, " "))));
  }
  return "-x";
}

/// The lines for a command, each with the condition that it was chosen.
std::string lines_of(const CommandText& command) {
  std::string condition = "__fish_use_subcommand";
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    condition =
        (i == 0 ? "" : condition + "; and ") + "__fish_seen_subcommand_from " + command.words[i];
  }
  const std::string begin = fmt::format("complete -c hearsay -n {}", in_quotes(condition));
  std::string text;
  std::string none_of;  // the inner commands was chosen yet
  for (const CommandText& inner : command.commands) none_of += " " + inner.words.back();
  for (const CommandText& inner : command.commands) {
    const std::string here =
        command.words.empty()
            ? begin
            : fmt::format("complete -c hearsay -n {}",
                          in_quotes(condition + "; and not __fish_seen_subcommand_from" + none_of));
    text += fmt::format("{} -a {} -d {}\n", here, inner.words.back(), in_quotes(inner.summary));
  }
  for (const OptionText& option : command.options) {
    text += begin;
    for (const std::string& name : option.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!option.value.empty() && !option.may_lack_value) text += " " + value(option.completion);
    text += fmt::format(" -d {}\n", in_quotes(option.meaning));
  }
  for (const OptionText& argument : command.arguments) {
    if (argument.completion.kind == Kind::kNothing) continue;
    text += fmt::format("{} {}\n", begin, value(argument.completion));
  }
  for (const CommandText& inner : command.commands) text += lines_of(inner);
  return text;
}

}  // namespace

std::string fish_completion(const CommandText& program) {
  return "# Completion for fish, made by hearsay from its tables of options and components.\n"
         "complete -c hearsay -f\n" +
         lines_of(program);
}

}  // namespace hearsay::cli
