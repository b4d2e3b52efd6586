#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/manual/completion.h"

namespace hearsay::cli {

namespace {

using Kind = Completion::Kind;

/// Text within '...' of a shell, where `also` are the characters that _arguments reads.
std::string escaped(std::string_view text, std::string_view also) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '\\' || also.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string action(const Completion& completion) {
  switch (completion.kind) {
    case Kind::kNothing:
      break;
    case Kind::kFiles:
      return completion.ending.empty() ? "_files"
                                       : fmt::format("_files -g \"*{}\"", completion.ending);
    case Kind::kDirectories:
      return "_files -/";
    case Kind::kWords:
      return fmt::format("({})", fmt::join(completion.words, " "));
  }
  return " ";
}

/// ":SPEC:(ring star)": what stands after an option, or as an argument.
std::string value(const OptionText& option) {
  return fmt::format(":{}:{}", escaped(option.value, ":"), action(option.completion));
}

/// The arguments of `_arguments` for a command, one per line.
std::string specs(const CommandText& command, const std::string& indent) {
  std::string text;
  for (const OptionText& option : command.options) {
    const std::string meaning = escaped(option.meaning, "[]:");
    for (const std::string& name : option.names) {
      const bool flag = option.value.empty();
      const bool is_long = name.starts_with("--");
      text += fmt::format(" \\\n{}'{}{}[{}]{}{}'", indent, name,
                          flag      ? ""
                          : is_long ? "="
                                    : "+",
                          meaning, option.may_lack_value ? ":" : "", flag ? "" : value(option));
    }
  }
  for (const OptionText& argument : command.arguments) {
    text += fmt::format(" \\\n{}'*{}'", indent, value(argument));
  }
  return text;
}

/// A function that offers the commands, and completes behind the one that was chosen.
std::string function_of(const CommandText& command, const std::string& name) {
  std::string text = fmt::format("{}() {{\n", name);
  if (command.commands.empty()) {
    return text + "  _arguments" + specs(command, "    ") + "\n}\n\n";
  }
  text += "  local line state\n  local -a commands\n  commands=(\n";
  std::string cases;
  for (const CommandText& inner : command.commands) {
    const std::string& word = inner.words.back();
    text += fmt::format("    '{}:{}'\n", word, escaped(inner.summary, ":"));
    cases += fmt::format("        {}) {}_{} ;;\n", word, name, word);
  }
  text += fmt::format(
      "  )\n  _arguments -C{} \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n"
      "    command) _describe command commands ;;\n    rest)\n      case $line[1] in\n{}"
      "      esac ;;\n  esac\n}}\n\n",
      specs(command, "    "), cases);
  for (const CommandText& inner : command.commands) {
    text += function_of(inner, name + "_" + inner.words.back());
  }
  return text;
}

}  // namespace

std::string zsh_completion(const CommandText& program) {
  return "#compdef hearsay\n"
         "# Completion for zsh, made by hearsay from its tables of options and components.\n\n" +
         function_of(program, "_hearsay") + "_hearsay \"$@\"\n";
}

}  // namespace hearsay::cli
