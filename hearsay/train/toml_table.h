#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/train/toml.h"

namespace hearsay::train {

/// A text or a number as a command line would have it; nothing for all else.
std::optional<std::string> setting_value(const toml::node& node);

/// A table of a TOML file, read key by key. All that is wrong with it throws InvalidArgument,
/// "[FILE, line N] ...": keys that nobody knows (with the nearest), values of another type.
/// Refers to the table and the file's name.
class TomlTable {
 public:
  using Names = std::vector<std::string_view>;

  /// `keys` may stand here and are named in messages; so may `others`, which `others_are` sums up.
  TomlTable(const toml::table& table, const std::string& file, Names keys, const Names& others = {},
            std::string_view others_are = "");

  std::size_t line() const { return table_.source().begin.line; }
  const std::string& file() const { return file_; }
  const toml::table& all() const { return table_; }
  const toml::node* find(std::string_view key) const { return table_.get(key); }
  bool is_key(std::string_view key) const;  ///< one of `keys`

  // What stands at a key; the fallback if there is nothing.
  std::string text(std::string_view key, std::string fallback = "") const;
  std::string needed_text(std::string_view key) const;
  double number(std::string_view key, double fallback) const;
  std::uint64_t count(std::string_view key, std::uint64_t fallback) const;
  bool flag(std::string_view key) const;
  const toml::table* child(std::string_view key) const;

  // Lists; empty if there is none, and never empty if there is one.
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<std::uint64_t> counts(std::string_view key) const;
  std::vector<const toml::table*> tables(std::string_view key) const;  ///< [[key]], or {...}s
  std::vector<const toml::node*> list(std::string_view key) const;

  // A value within a list that stands at a key.
  std::string text_of(const toml::node& node, std::string_view key) const;
  double number_of(const toml::node& node, std::string_view key) const;
  std::uint64_t count_of(const toml::node& node, std::string_view key) const;

  template <class... Arguments>
  [[noreturn]] void fail(const toml::node& node, fmt::format_string<Arguments...> text,
                         Arguments&&... arguments) const {
    throw InvalidArgument(fmt::format("[{}, line {}] {}", file_, node.source().begin.line,
                                      fmt::format(text, std::forward<Arguments>(arguments)...)));
  }
  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    fail(table_, text, std::forward<Arguments>(arguments)...);
  }

 private:
  const toml::table& table_;
  const std::string& file_;
  Names keys_;
};

}  // namespace hearsay::train
