#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace hearsay::cli {

/// Print on standard error. What cannot be written there (a full disk) is lost, and nothing else:
/// fmt::print would throw, and a run would end for a message.
template <class... Values>
void complain(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace hearsay::cli
