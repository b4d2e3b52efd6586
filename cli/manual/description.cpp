#include "cli/manual/description.h"

#include <algorithm>
#include <string_view>

#include "cli/terminal/help.h"
#include "hearsay/report/catalogue.h"

namespace hearsay::cli {

namespace {

using Kind = Completion::Kind;

/// "yes|no", which names of values are where nothing else is possible; else nothing.
std::vector<std::string> choices(std::string_view value) {
  std::vector<std::string> all;
  if (value.find('|') == std::string_view::npos) return all;
  while (!value.empty()) {
    const std::size_t bar = std::min(value.find('|'), value.size());
    all.emplace_back(value.substr(0, bar));
    value.remove_prefix(std::min(bar + 1, value.size()));
  }
  return all;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const report::FamilyNames& family : report::component_names()) {
    names.emplace_back(family.family);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

/// `name`: of the option without its dashes, or of the argument.
Completion completion_of(const CLI::App& command, std::string_view name, std::string_view value) {
  if (name == "family") return {Kind::kWords, "", family_names()};
  if (name == "command") return {Kind::kWords, "", command_names(*command.get_parent())};
  const std::string_view setting = name == "spec" ? command.get_name() : name;
  for (const report::FamilyNames& family : report::component_names()) {
    if (family.option != setting) continue;
    return {Kind::kWords, "", {family.names.begin(), family.names.end()}};
  }
  if (auto words = choices(value); !words.empty()) return {Kind::kWords, "", std::move(words)};
  if (value.starts_with("DIR")) return {Kind::kDirectories, "", {}};
  if (value.starts_with("FILE") || value.find(".toml") != std::string_view::npos ||
      value.ends_with(".safetensors")) {
    const std::size_t dot = value.find('.');
    const std::string_view ending = dot == std::string_view::npos ? "" : value.substr(dot);
    return {Kind::kFiles, std::string(ending.substr(0, ending.find("..."))), {}};
  }
  return {};
}

OptionText describe(const CLI::App& command, const CLI::Option& option) {
  OptionText text;
  const bool positional = option.get_positional();
  if (positional) text.names = {option.get_name(true)};
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  text.meaning = option.get_description();
  text.required = option.get_required();
  if (!option.get_default_str().empty()) {
    text.meaning += "; default: " + option.get_default_str();
  }
  text.value = value_name(option);
  if (text.value.empty()) return text;
  text.may_lack_value = !positional && option.get_expected_min() == 0;
  const std::string name = positional ? text.names.front() : option.get_lnames().front();
  text.completion = completion_of(command, name, text.value);
  return text;
}

}  // namespace

CommandText describe(const CLI::App& app) {
  CommandText text;
  for (const CLI::App* at = &app; at->get_parent() != nullptr; at = at->get_parent()) {
    text.words.insert(text.words.begin(), at->get_name());
  }
  text.summary = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    auto& list = option->get_positional() ? text.arguments : text.options;
    list.push_back(describe(app, *option));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) text.commands.push_back(describe(*command));
  }
  return text;
}

}  // namespace hearsay::cli
