#pragma once

#include <algorithm>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hearsay/core/spec.h"

namespace hearsay {

template <class Signature>
struct Row;

/// A row of a registry: one component of a family. `make` takes the parsed arguments of a spec and
/// what else the family is made from: a row of Row<Network(Shape, std::size_t)> has
///
///   Network (*make)(const Arguments&, Shape, std::size_t);
///
/// A family with more columns derives from it.
template <class Product, class... Context>
struct Row<Product(Context...)> {
  std::string_view name;     ///< what a spec begins with: "topk"
  std::string_view example;  ///< a spec that works: "topk:keep=0.01"
  std::string_view summary;
  std::span<const Parameter> parameters;
  Product (*make)(const Arguments&, Context...);
};

/// All components of a family: a constexpr table, and the word for one of them in messages. The
/// command line, `hearsay list`, the docs and the contract tests enumerate it.
///
///   compress::registry().make("topk:keep=0.01")
template <class Entry>
class Registry {
 public:
  using value_type = Entry;

  constexpr Registry(std::string_view family, std::span<const Entry> rows)
      : family_(family), rows_(rows) {}

  constexpr auto begin() const { return rows_.begin(); }
  constexpr auto end() const { return rows_.end(); }
  constexpr std::size_t size() const { return rows_.size(); }

  /// Whether a row has the name that `spec` begins with.
  bool contains(std::string_view spec) const { return position(spec) != rows_.end(); }

  /// The row that `spec` names. Throws InvalidArgument with the nearest match and all names.
  const Entry& find(std::string_view spec) const {
    if (const auto row = position(spec); row != rows_.end()) return *row;
    std::vector<std::string_view> names;
    for (const Entry& row : rows_) names.push_back(row.name);
    reject_name(family_, spec_name(spec), names);
  }

  /// The arguments of `spec`, by the parameters of its row. Throws InvalidArgument.
  Arguments arguments(std::string_view spec) const { return {spec, find(spec).parameters}; }

  /// The component that `spec` describes. Throws InvalidArgument.
  template <class... Context>
  auto make(std::string_view spec, Context&&... context) const {
    const Entry& row = find(spec);
    return row.make(Arguments(spec, row.parameters), std::forward<Context>(context)...);
  }

 private:
  auto position(std::string_view spec) const {
    return std::ranges::find(rows_, spec_name(spec), &Entry::name);
  }

  std::string_view family_;
  std::span<const Entry> rows_;
};

}  // namespace hearsay

/// The rows outlive the registry.
template <class Entry>
inline constexpr bool std::ranges::enable_borrowed_range<hearsay::Registry<Entry>> = true;
