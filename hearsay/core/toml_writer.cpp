#include "hearsay/core/toml_writer.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace hearsay {

namespace {

bool must_be_escaped(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f' || c == '\'';
}

std::string toml_key(std::string_view key) {
  constexpr std::string_view kBare =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const bool bare = !key.empty() && key.find_first_not_of(kBare) == std::string_view::npos;
  return bare ? std::string(key) : quoted_toml(key);
}

std::string toml_number(double number) {
  std::string text = fmt::format("{}", number);
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? text + ".0" : text;
}

std::string toml_value(const toml::node& node);

std::string toml_list(const toml::array& list) {
  std::string out = "[";
  for (const toml::node& one : list) {
    if (out.size() > 1) out += ", ";
    out += toml_value(one);
  }
  return out + "]";
}

std::string toml_inline_table(const toml::table& table) {
  std::string out = "{";
  for (const auto& [key, node] : table) {
    if (out.size() > 1) out += ", ";
    out += toml_line(key.str(), node);
  }
  return out + "}";
}

std::string toml_value(const toml::node& node) {
  if (const auto* string = node.as_string()) return quoted_toml(string->get());
  if (const auto* number = node.as_floating_point()) return toml_number(number->get());
  if (const auto* list = node.as_array()) return toml_list(*list);
  if (const auto* table = node.as_table()) return toml_inline_table(*table);
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  std::ostringstream time;
  if (const auto* date = node.as_date()) time << date->get();
  if (const auto* of_day = node.as_time()) time << of_day->get();
  if (const auto* both = node.as_date_time()) time << both->get();
  return time.str();
}

}  // namespace

std::string quoted_toml(std::string_view text) {
  if (std::ranges::none_of(text, must_be_escaped)) return fmt::format("'{}'", text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += must_be_escaped(c) && c != '\'' ? fmt::format("\\u{:04x}", c) : std::string(1, c);
  }
  return out + '"';
}

std::string toml_line(std::string_view key, const toml::node& value) {
  return fmt::format("{} = {}", toml_key(key), toml_value(value));
}

}  // namespace hearsay
