#include "hearsay/algorithm/footprint.h"

#include <string_view>

namespace hearsay::algorithm {

namespace {

/// Calls visitor(word) for each word of "z, delta"; never for "-". Text after a ';' describes other
/// rounds and is ignored.
template <class Visitor>
void for_each_word(std::string_view list, const Visitor& visitor) {
  list = list.substr(0, list.find(';'));
  while (!list.empty() && list != "-") {
    const std::size_t comma = list.find(", ");
    visitor(list.substr(0, comma));
    list = comma == std::string_view::npos ? "" : list.substr(comma + 2);
  }
}

}  // namespace

Footprint footprint_of(const Entry& entry) {
  Footprint result;
  for_each_word(entry.sends, [&](std::string_view word) { result.sent += word != "u"; });
  for_each_word(entry.state, [&](std::string_view word) {
    ++result.kept;
    result.hats |= word == "hats";
  });
  return result;
}

}  // namespace hearsay::algorithm
