#pragma once

#include <string>
#include <string_view>

namespace hearsay {

/// `text` with &, <, >, " and ' as entities: for HTML and SVG, in elements and in quoted
/// attributes. Control characters that XML does not allow become U+FFFD.
std::string escape_markup(std::string_view text);

}  // namespace hearsay
