#include "cli/manual/man_page.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/version.h"

namespace hearsay::cli {

namespace {

/// Text that roff prints as it is: '-' stays the sign that can be pasted into a shell.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  // At the beginning of a line these would begin a request.
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", plain(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", plain(text)); }

std::string joined(const std::vector<std::string>& words, std::string_view by) {
  return fmt::format("{}", fmt::join(words, by));
}

std::string name_of(const CommandText& command, std::string_view by) {
  std::vector<std::string> words{"hearsay"};
  words.insert(words.end(), command.words.begin(), command.words.end());
  return joined(words, by);
}

std::string head(const std::string& name, std::string_view summary) {
  std::string upper = name;
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return fmt::format(
      ".\\\" Made by hearsay {0} from its tables of options.\n"
      ".TH {1} 1 \"\" \"hearsay {0}\" \"hearsay manual\"\n.ad l\n.nh\n.SH NAME\n{2} \\- {3}\n",
      version(), plain(upper), plain(name), plain(summary));
}

std::string synopsis(const CommandText& command) {
  std::string text = ".B " + name_of(command, " ") + "\n";
  if (!command.options.empty()) text += "[\\fIOPTIONS\\fR]\n";
  for (const OptionText& argument : command.arguments) {
    const std::string value = italic(argument.value);
    text += argument.required ? value + "\n" : "[" + value + "]\n";
  }
  if (!command.commands.empty()) text += "\\fICOMMAND\\fR\n";
  return text;
}

std::string entry(const OptionText& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(bold(name));
  std::string title = joined(names, ", ");
  if (!option.value.empty()) title += " " + italic(option.value);
  return fmt::format(".TP\n{}\n{}\n", title, plain(option.meaning));
}

std::string entries(const CommandText& command) {
  std::string text;
  if (!command.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const OptionText& argument : command.arguments) {
    text += fmt::format(".TP\n{}\n{}\n", italic(argument.value), plain(argument.meaning));
  }
  if (!command.options.empty()) text += ".SH OPTIONS\n";
  for (const OptionText& option : command.options) text += entry(option);
  return text;
}

constexpr std::string_view kStatus =
    ".SH EXIT STATUS\n"
    ".TP\n0\nDone.\n"
    ".TP\n1\nSomething failed at run time, such as a model that turned NaN, or a full disk.\n"
    ".TP\n2\nA mistake in the command line, a config file or a combination of settings.\n"
    ".TP\n130\nStopped by Ctrl\\-C, SIGTERM or SIGUSR1.\n";

std::string command_page(const CommandText& command) {
  const std::string name = name_of(command, "-");
  std::string text = head(name, command.summary) + ".SH SYNOPSIS\n" + synopsis(command);
  for (const CommandText& inner : command.commands) text += ".br\n" + synopsis(inner);
  text += entries(command);
  for (const CommandText& inner : command.commands) {
    text += fmt::format(".SH {}\n{}\n", plain(name_of(inner, " ")), plain(inner.summary));
    for (const OptionText& argument : inner.arguments) {
      text += fmt::format(".TP\n{}\n{}\n", italic(argument.value), plain(argument.meaning));
    }
    for (const OptionText& option : inner.options) text += entry(option);
  }
  return text + std::string(kStatus) + ".SH SEE ALSO\n.BR hearsay (1)\n";
}

std::string program_page(const CommandText& program) {
  std::string text = head("hearsay", "train one model across peers that only talk to neighbours") +
                     ".SH SYNOPSIS\n" + synopsis(program) + ".SH DESCRIPTION\n" +
                     plain(program.summary) +
                     "\n.P\nWithout a command it prints its help. Each command has a page of its "
                     "own.\n.B hearsay list\nprints every graph, compressor, algorithm, model and "
                     "dataset with its parameters.\n.SH COMMANDS\n";
  std::string also;
  for (const CommandText& command : program.commands) {
    text += fmt::format(".TP\n{}\n{}\n", bold(command.words.back()), plain(command.summary));
    also += fmt::format("{}.BR {} (1)", also.empty() ? "" : ",\n", plain(name_of(command, "-")));
  }
  return text + entries(program) + std::string(kStatus) + ".SH SEE ALSO\n" + also + "\n";
}

}  // namespace

std::map<std::string, std::string> man_pages(const CommandText& program) {
  std::map<std::string, std::string> pages{{"hearsay.1", program_page(program)}};
  for (const CommandText& command : program.commands) {
    pages.emplace(name_of(command, "-") + ".1", command_page(command));
  }
  return pages;
}

}  // namespace hearsay::cli
