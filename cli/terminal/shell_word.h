#pragma once

#include <string>

namespace hearsay::cli {

/// A path quoted for a POSIX shell.
inline std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@%,=";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string word = "'";
  for (char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace hearsay::cli
