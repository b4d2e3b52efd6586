#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Numbers and tables as plain text, for a terminal.
namespace hearsay {

/// "812 B", "16.3 kB", "1.08 MB": powers of 1000, three digits.
std::string human_bytes(double bytes);

/// "812", "16.3 k", "5.24 G": likewise.
std::string human_count(double count);

/// Columns of text, the first left-aligned, the others right-aligned; the first row is the header.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

/// The names that a message lists, "a, b, c": the first 20, and how many more there are.
std::string name_list(std::span<const std::string> names, std::string_view between = ", ");

}  // namespace hearsay
