#include "hearsay/core/toml_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "hearsay/core/spec.h"

namespace hearsay {

namespace {

/// The end of the string that begins at `begin`; that of the line if it is not closed there.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const std::string three(3, quote);
  const bool is_long = text.substr(begin, 3) == three;
  std::size_t at = begin + (is_long ? 3 : 1);
  for (; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (is_long && text.substr(at, 3) == three) {
      at += 3;
      // Up to two quotes may stand before the last three.
      for (int more = 0; more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
      return at;
    } else if (!is_long && (text[at] == quote || text[at] == '\n')) {
      return at + (text[at] == quote ? 1 : 0);
    }
  }
  return std::min(at, text.size());
}

/// toml++ and its tables recurse into each part of a dotted key and each bracket, and more of them
/// would exhaust the stack.
constexpr std::size_t kDeepest = 16;

/// Counts how deep a value or key nests, from the characters outside of strings and comments.
class Nesting {
 public:
  bool too_deep_after(char c) {
    if (c == '[' || c == '{') ++brackets_;
    if ((c == ']' || c == '}') && brackets_ > 0) --brackets_;
    if (c == '.') ++dots_;
    if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots_ = 0;
    return brackets_ > kDeepest || dots_ >= kDeepest;
  }

 private:
  std::size_t brackets_ = 0, dots_ = 0;
};

/// Checks what toml++ 3 does not survive: too much nesting, and some of the characters that are not
/// ASCII outside of strings and comments, where TOML has none (is_non_ascii_horizontal_whitespace).
void check_text(std::string_view text, const std::string& file) {
  if (text.size() > kMostTomlBytes) {
    throw InvalidArgument(fmt::format("[{}] has {} bytes; a TOML file has at most {} here", file,
                                      text.size(), kMostTomlBytes));
  }
  std::size_t line = 1;
  Nesting nesting;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  for (std::size_t at = text.starts_with(kByteOrderMark) ? 3 : 0; at < text.size();) {
    const char c = text[at];
    std::size_t next = at + 1;
    if (c == '#') next = std::min(text.find('\n', at), text.size());
    if (c == '"' || c == '\'') next = end_of_string(text, at);
    if (static_cast<unsigned char>(c) >= 0x80) {
      throw InvalidArgument(
          fmt::format("[{}, line {}] a character that is not ASCII; put the key or value in quotes",
                      file, line));
    }
    if (c != '#' && nesting.too_deep_after(c)) {
      throw InvalidArgument(
          fmt::format("[{}, line {}] nests deeper than {} tables or lists; nothing here does", file,
                      line, kDeepest));
    }
    line += static_cast<std::size_t>(std::ranges::count(text.substr(at, next - at), '\n'));
    at = next;
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& file) {
  check_text(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InvalidArgument(
        fmt::format("[{}, line {}] {}", file, error.source().begin.line, error.description()));
  }
}

std::optional<std::string> setting_value(const toml::node& node) {
  if (const auto* string = node.as_string()) return string->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  return {};
}

TomlTable::TomlTable(const toml::table& table, const std::string& file, Names keys,
                     const Names& others, std::string_view others_are)
    : table_(table), file_(file), keys_(std::move(keys)) {
  Names known = keys_;
  known.insert(known.end(), others.begin(), others.end());
  for (const auto& [key, node] : table) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    const std::string_view close = nearest(key.str(), known);
    Names there_are = keys_;
    if (!others.empty()) there_are.push_back(others_are);
    fail(node, "there is no '{}' here{}; there are {}", key.str(),
         close.empty() ? "" : fmt::format(" (did you mean '{}'?)", close),
         fmt::join(there_are, ", "));
  }
}

bool TomlTable::is_key(std::string_view key) const {
  return std::ranges::find(keys_, key) != keys_.end();
}

std::string TomlTable::text(std::string_view key, std::string fallback) const {
  const toml::node* node = find(key);
  return node == nullptr ? std::move(fallback) : text_of(*node, key);
}

std::string TomlTable::needed_text(std::string_view key) const {
  std::string value = text(key);
  if (value.empty()) fail("there is no '{}' here, and it is needed", key);
  return value;
}

double TomlTable::number(std::string_view key, double fallback) const {
  const toml::node* node = find(key);
  if (node == nullptr) return fallback;
  const double value = number_of(*node, key);
  if (!std::isfinite(value)) fail(*node, "{} must be a finite number, got {}", key, value);
  return value;
}

std::uint64_t TomlTable::count(std::string_view key, std::uint64_t fallback) const {
  const toml::node* node = find(key);
  return node == nullptr ? fallback : count_of(*node, key);
}

bool TomlTable::flag(std::string_view key) const {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (!node->is_boolean()) fail(*node, "{} must be true or false", key);
  return node->as_boolean()->get();
}

const toml::table* TomlTable::child(std::string_view key) const {
  const toml::node* node = find(key);
  if (node != nullptr && !node->is_table()) fail(*node, "{} must be a table", key);
  return node == nullptr ? nullptr : node->as_table();
}

std::vector<const toml::node*> TomlTable::list(std::string_view key) const {
  std::vector<const toml::node*> all;
  const toml::node* node = find(key);
  if (node == nullptr) return all;
  if (!node->is_array() || node->as_array()->empty()) {
    fail(*node, "{} must be a list that is not empty", key);
  }
  for (const toml::node& one : *node->as_array()) all.push_back(&one);
  return all;
}

std::vector<std::string> TomlTable::texts(std::string_view key) const {
  std::vector<std::string> all;
  for (const toml::node* one : list(key)) all.push_back(text_of(*one, key));
  return all;
}

std::vector<std::uint64_t> TomlTable::counts(std::string_view key) const {
  std::vector<std::uint64_t> all;
  for (const toml::node* one : list(key)) all.push_back(count_of(*one, key));
  return all;
}

std::vector<const toml::table*> TomlTable::tables(std::string_view key) const {
  std::vector<const toml::table*> all;
  for (const toml::node* one : list(key)) {
    if (!one->is_table()) fail(*one, "{} must be a list of tables", key);
    all.push_back(one->as_table());
  }
  return all;
}

std::string TomlTable::text_of(const toml::node& node, std::string_view key) const {
  if (!node.is_string()) fail(node, "{} must be a text", key);
  return node.as_string()->get();
}

double TomlTable::number_of(const toml::node& node, std::string_view key) const {
  if (!node.is_number()) fail(node, "{} must be a number", key);
  return *node.value<double>();
}

std::uint64_t TomlTable::count_of(const toml::node& node, std::string_view key) const {
  if (!node.is_integer() || node.as_integer()->get() < 0) {
    fail(node, "{} must be a whole number, 0 or more", key);
  }
  return static_cast<std::uint64_t>(node.as_integer()->get());
}

}  // namespace hearsay
