#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Tables that fit a terminal. The first row is the header.
namespace hearsay::report {

using TextRows = std::vector<std::vector<std::string>>;

inline constexpr std::size_t kTableWidth = 100;  ///< characters

/// The table in pieces below each other, each of which begins with the first column, if it is wider
/// than kTableWidth.
std::string folded_table(const TextRows& rows);

/// The table without columns of `least_needed`, titles in the order in which they go, until it
/// fits; names them below. Folded if it never does.
std::string narrowed_table(TextRows rows, std::span<const std::string> least_needed);

}  // namespace hearsay::report
