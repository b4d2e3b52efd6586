#include "cli/terminal/help.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/terminal/terminal.h"

namespace hearsay::cli {

namespace {

constexpr std::size_t kMargin = 2, kNames = 30;  // columns, as CLI11 has them
constexpr std::size_t kNarrowest = 40;

std::size_t help_width() {
  if (::isatty(STDOUT_FILENO) == 0) return 100;
  const int width = terminal_of(stdout).width;
  return std::max(kNarrowest, static_cast<std::size_t>(std::max(width, 0)));
}

/// A name, and its meaning from column kNames on, or below where there is no room beside it.
std::string entry(const std::string& name, const std::string& meaning) {
  const std::size_t width = help_width();
  const std::size_t column = width >= 2 * kNames ? kNames : kMargin + 6;
  std::string text = wrapped(name, kMargin, kMargin + 4, width);
  text.insert(0, kMargin, ' ');
  if (meaning.empty()) return text + "\n";
  const bool beside = kMargin + name.size() < column;
  text +=
      beside ? std::string(column - kMargin - name.size(), ' ') : "\n" + std::string(column, ' ');
  return text + wrapped(meaning, column, column, width) + "\n";
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t at, std::size_t indent, std::size_t width) {
  const std::size_t room = width > indent ? width - indent : 1;
  std::string lines;
  bool begins = true, blank = false;  // a line; whether one stood before this word
  for (std::size_t from = 0; from < text.size();) {
    if (text[from] == ' ' || text[from] == '\n') {
      blank = true;
      ++from;
      continue;
    }
    std::string_view word = text.substr(from, text.find_first_of(" \n", from) - from);
    const std::size_t comma = word.substr(0, room).find_last_of(",|");
    if (word.size() > room && comma != std::string_view::npos) word = word.substr(0, comma + 1);
    if (!begins && at + (blank ? 1 : 0) + word.size() > width) {
      lines += "\n" + std::string(indent, ' ');
      at = indent;
      begins = true;
    }
    if (!begins && blank) {
      lines += ' ';
      ++at;
    }
    lines += word;
    at += word.size();
    from += word.size();
    begins = blank = false;
  }
  return lines;
}

std::string value_name(const CLI::Option& option) {
  if (option.get_type_size() == 0) return "";
  const std::string name = option.get_type_name();
  return name.substr(0, std::min({name.find(":INT in "), name.find(":UINT in "), name.size()}));
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), 0, 0, help_width()) + "\n";
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  return wrapped(Formatter::make_usage(app, std::move(name)), 0, 7, help_width()) + "\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return entry(make_option_name(option, is_positional) + make_option_opts(option),
               make_option_desc(option));
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string text = value_name(*option);
  if (!text.empty()) text.insert(0, " ");
  if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
  if (option->get_required()) text += " (required)";
  for (const CLI::Option* other : option->get_needs()) text += " (with " + other->get_name() + ")";
  return text;
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return entry(command->get_name(), command->get_description());
}

}  // namespace hearsay::cli
