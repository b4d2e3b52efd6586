#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"
#include "hearsay/core/spec.h"

namespace hearsay {

/// The row of a registry that `spec` names. Entry has a member `name`. Throws InvalidArgument with
/// the nearest match and all names; `family` is the word for one component, "compressor".
template <class Entry>
const Entry& find_entry(std::span<const Entry> registry, std::string_view spec,
                        std::string_view family) {
  const std::string_view name = spec_name(spec);
  std::vector<std::string_view> names;
  for (const Entry& entry : registry) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  const std::string_view close = nearest(name, names);
  throw InvalidArgument(fmt::format(
      "[{}] no {} is named '{}'{}; there are {}", family, family, name,
      close.empty() ? "" : fmt::format(" (did you mean '{}'?)", close), fmt::join(names, ", ")));
}

}  // namespace hearsay
