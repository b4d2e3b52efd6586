#include "hearsay/core/error.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <string_view>

#include <fmt/format.h>

namespace hearsay {

namespace {

constexpr std::size_t kLongestWord = 200, kLongestText = 4000;
constexpr std::string_view kBlank = " \t\n", kGap = "...";

/// Whether the byte continues a character of UTF-8.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// The text with so many bytes at most: its beginning and a shorter piece of its end. Characters
/// stay whole.
std::string without_middle(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = (most - kGap.size()) * 2 / 3;
  std::size_t begin = text.size() - (most - kGap.size() - end);
  while (end > 0 && continues(text[end])) --end;
  while (begin < text.size() && continues(text[begin])) ++begin;
  return fmt::format("{}{}{}", text.substr(0, end), kGap, text.substr(begin));
}

}  // namespace

std::string cut_message(std::string text) {
  if (text.size() <= kLongestWord) return text;
  std::string cut;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t word = std::min(rest.find_first_of(kBlank), rest.size());
    cut += without_middle(rest.substr(0, word), kLongestWord);
    rest.remove_prefix(word);
    const std::size_t blanks = std::min(rest.find_first_not_of(kBlank), rest.size());
    cut += rest.substr(0, blanks);
    rest.remove_prefix(blanks);
  }
  return without_middle(cut, kLongestText);
}

std::string message_of(const std::exception& error) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                         dynamic_cast<const std::length_error*>(&error) != nullptr;
  if (no_memory) {
    return "[memory] there is not enough memory for this; take a smaller model or batch, fewer "
           "peers or threads, or raise the limit (ulimit -v)";
  }
  if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return cut_message(
        fmt::format("[files] cannot use {}: {}", files->path1().string(), files->code().message()));
  }
  return cut_message(error.what());
}

}  // namespace hearsay
