#pragma once

#include <string>
#include <string_view>

namespace hearsay {

/// Whether a text is valid UTF-8, as JSON and TOML files must be.
bool is_utf8(std::string_view text);

/// The text with every byte that is not part of valid UTF-8 escaped as \xNN: for names from files
/// in other encodings that are written to JSON.
std::string escape_non_utf8(std::string_view text);

}  // namespace hearsay
