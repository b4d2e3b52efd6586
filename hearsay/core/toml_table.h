#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/core/toml.h"

namespace hearsay {

/// The most bytes that parse_toml takes, far more than any file needs.
inline constexpr std::size_t kMostTomlBytes = std::size_t{4} << 20;

/// Throws InvalidArgument, "[FILE, line N] ...", if the text is not TOML, is longer than
/// kMostTomlBytes or nests deeper than 16 tables and lists.
toml::table parse_toml(std::string_view text, const std::string& file);

/// A string or number as the text of a command line argument; empty for other types.
std::optional<std::string> setting_value(const toml::node& node);

/// A table of a TOML file, read key by key. All errors throw InvalidArgument, "[FILE, line N] ...":
/// unknown keys (with the nearest known one), values of another type. Refers to the table and the
/// file's name.
class TomlTable {
 public:
  using Names = std::vector<std::string_view>;

  /// `keys` are allowed and named in messages; so are `others`, which messages sum up as
  /// `others_are`.
  TomlTable(const toml::table& table, const std::string& file, Names keys, const Names& others = {},
            std::string_view others_are = "");

  std::size_t line() const { return table_.source().begin.line; }
  const std::string& file() const { return file_; }
  const toml::table& all() const { return table_; }
  const toml::node* find(std::string_view key) const { return table_.get(key); }
  bool is_key(std::string_view key) const;  ///< one of `keys`

  // The value of a key; the fallback if it is absent.
  std::string text(std::string_view key, std::string fallback = "") const;
  std::string needed_text(std::string_view key) const;
  double number(std::string_view key, double fallback) const;
  std::uint64_t count(std::string_view key, std::uint64_t fallback) const;
  bool flag(std::string_view key) const;
  const toml::table* child(std::string_view key) const;

  // Lists; empty if the key is absent, never empty if it is present.
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<std::uint64_t> counts(std::string_view key) const;
  std::vector<const toml::table*> tables(std::string_view key) const;  ///< [[key]], or {...}s
  std::vector<const toml::node*> list(std::string_view key) const;

  // A value within the list of a key.
  std::string text_of(const toml::node& node, std::string_view key) const;
  double number_of(const toml::node& node, std::string_view key) const;  ///< nan and inf too
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

}  // namespace hearsay
