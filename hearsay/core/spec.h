#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay {

/// One parameter of a component: a row of the table used by parsing, `hearsay list` and the docs.
struct Parameter {
  std::string_view key;
  std::string_view fallback;  ///< the default value, as text; empty: required
  std::string_view allowed;  ///< "(0, 1]", "layer|model"; kVerbatim: the rest of the spec, unparsed
  std::string_view meaning;
};

inline constexpr std::string_view kVerbatim = "...";

/// The part of a spec before the first ':': "topk" of "topk:keep=0.01".
std::string_view spec_name(std::string_view spec);

/// The arguments of a spec string `name:value,key=value,...`, parsed by the component's parameters.
///
/// A bare value belongs to the parameter at that position of the table: `grid:3x5` is
/// `grid:size=3x5`. Unknown keys, keys given twice, and values out of range throw InvalidArgument
/// with a message that names the component, the key, the value found and the allowed values.
class Arguments {
 public:
  Arguments(std::string_view spec, std::span<const Parameter> parameters);

  std::string_view name() const { return name_; }

  /// Whether the user gave the key; otherwise it has its default.
  bool given(std::string_view key) const;

  const std::string& text(std::string_view key) const;
  double number(std::string_view key) const;  ///< finite
  std::int64_t integer(std::string_view key) const;
  bool flag(std::string_view key) const;  ///< 0 or 1

  /// A number in the interval that the table's `allowed` states: "[0, 1)", "(0, inf)".
  double number_in_range(std::string_view key) const;
  /// An integer in the interval that the table's `allowed` states: "[1, 16]".
  std::int64_t integer_in_range(std::string_view key) const;
  /// The index of the value in `names`, which the table's `allowed` lists as "a|b|c".
  std::size_t choice(std::string_view key) const;

  /// "[name] key must be <allowed>, got <value>", for checks that only the component can make.
  [[noreturn]] void reject(std::string_view key, std::string_view allowed) const;

  /// The spec with every parameter written out; parsing it gives the same arguments.
  std::string resolved() const;

 private:
  std::size_t index_of(std::string_view key) const;

  std::string name_;
  std::span<const Parameter> parameters_;
  std::vector<std::string> values_;
  std::vector<bool> given_;
};

/// The spec with the value `to` for every argument that has the value `from`.
std::string with_value(std::string_view spec, std::string_view from, std::string_view to);

/// The entry of `names` closest to `word` by edit distance, or "" if none is close.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// Throws InvalidArgument, "[graph] no graph is named 'rnig' (did you mean 'ring'?); there are
/// ring, star"; `family` is the word for one component.
[[noreturn]] void reject_name(std::string_view family, std::string_view name,
                              std::span<const std::string_view> names);

}  // namespace hearsay
