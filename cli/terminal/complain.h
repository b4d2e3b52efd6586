#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace hearsay::cli {

/// Prints to standard error. A message that cannot be written there (a full disk) is dropped
/// silently: fmt::print would throw, and a message would end a run.
template <class... Values>
void complain(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace hearsay::cli
