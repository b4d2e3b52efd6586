#include "hearsay/core/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hearsay {

std::string human_count(double count) {
  constexpr std::array<const char*, 6> kPrefixes{"", " k", " M", " G", " T", " P"};
  std::size_t power = 0;
  while (count >= 999.5 && power + 1 < kPrefixes.size()) {
    count /= 1000;
    ++power;
  }
  return power == 0 ? fmt::format("{:.0f}", count)
                    : fmt::format("{:.3g}{}", count, kPrefixes[power]);
}

std::string human_bytes(double bytes) {
  const std::string count = human_count(bytes);
  return count.find(' ') == std::string::npos ? count + " B" : count + "B";
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      line += c == 0 ? fmt::format("{:<{}}", rows[r][c], width[c])
                     : fmt::format("  {:>{}}", rows[r][c], width[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (r == 0) {
      std::size_t total = 0;
      for (std::size_t c = 0; c < width.size(); ++c) total += width[c] + (c > 0 ? 2 : 0);
      text += std::string(total, '-') + "\n";
    }
  }
  return text;
}

std::string name_list(std::span<const std::string> names, std::string_view between) {
  constexpr std::size_t kMost = 20;
  const std::string list =
      fmt::format("{}", fmt::join(names.first(std::min(names.size(), kMost)), between));
  if (names.size() <= kMost) return list;
  return fmt::format("{}{}... ({} in all)", list, between, names.size());
}

}  // namespace hearsay
