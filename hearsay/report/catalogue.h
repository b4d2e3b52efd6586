#pragma once

#include <string>
#include <string_view>

namespace hearsay::report {

/// The components of a family ("graphs", "compressors", ...), with parameters, as text for a
/// terminal; of every family if empty. Throws InvalidArgument for an unknown family.
std::string catalogue(std::string_view family);

/// docs/config_reference.md: every setting and every component, from the same tables.
std::string config_reference();

}  // namespace hearsay::report
