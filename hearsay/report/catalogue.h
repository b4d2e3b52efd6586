#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearsay::report {

/// The components of a family ("graphs", "compressors", ...), with parameters, as text for a
/// terminal; of every family if empty. Throws InvalidArgument for an unknown family.
std::string catalogue(std::string_view family);

/// The names of a family's components, such as shells complete.
struct FamilyNames {
  std::string_view family;  ///< the word of `hearsay list`: "graphs"
  std::string_view option;  ///< the setting that takes them: "graph"
  std::vector<std::string_view> names;
};
std::vector<FamilyNames> component_names();

/// docs/config_reference.md: every setting and every component, from the same tables.
std::string config_reference();

}  // namespace hearsay::report
