#pragma once

#include <string>
#include <string_view>

#include "hearsay/core/toml.h"

namespace hearsay {

/// A text as a TOML string on one line: 'as it is', or "escaped" where it has a quote or a control
/// character. The text must be UTF-8.
std::string quoted_toml(std::string_view text);

/// KEY = VALUE on one line, without a line end; lists are [...] and tables {...}. Parsing it gives
/// the same value, down to the last bit of a number.
std::string toml_line(std::string_view key, const toml::node& value);

}  // namespace hearsay
