#include "hearsay/report/fit.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/text.h"

namespace hearsay::report {

namespace {

constexpr std::size_t kBetween = 2;  // columns, in format_table

std::size_t width_of(const TextRows& rows, std::size_t column) {
  std::size_t width = 0;
  for (const auto& row : rows) {
    if (column < row.size()) width = std::max(width, row[column].size());
  }
  return width;
}

bool fits(const TextRows& rows) {
  std::size_t width = 0;
  for (std::size_t c = 0; c < rows.front().size(); ++c) {
    width += width_of(rows, c) + (c > 0 ? kBetween : 0);
  }
  return width <= kTableWidth;
}

}  // namespace

std::string folded_table(const TextRows& rows) {
  if (rows.empty() || fits(rows)) return format_table(rows);
  std::string text;
  const std::size_t columns = rows.front().size(), first = width_of(rows, 0);
  for (std::size_t from = 1; from < columns;) {
    std::size_t to = from, width = first;
    do {  // at least one
      width += kBetween + width_of(rows, to++);
    } while (to < columns && width + kBetween + width_of(rows, to) <= kTableWidth);
    TextRows piece;
    for (const auto& row : rows) {
      auto& cells = piece.emplace_back();
      cells.push_back(row.front());
      for (std::size_t c = from; c < std::min(to, row.size()); ++c) cells.push_back(row[c]);
    }
    text += (text.empty() ? "" : "\n") + format_table(piece);
    from = to;
  }
  return text;
}

std::string narrowed_table(TextRows rows, std::span<const std::string> least_needed) {
  std::vector<std::string> gone;
  for (const std::string& title : least_needed) {
    if (fits(rows)) break;
    const auto found = std::ranges::find(rows.front(), title);
    if (found == rows.front().end()) continue;
    const auto column = found - rows.front().begin();
    for (auto& row : rows) row.erase(row.begin() + column);
    gone.push_back(title);
  }
  std::string text = folded_table(rows);
  if (!gone.empty()) {
    text += fmt::format("not shown: {} (--wide shows all)\n", fmt::join(gone, ", "));
  }
  return text;
}

}  // namespace hearsay::report
