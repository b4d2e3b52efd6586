#pragma once

#include <string>
#include <vector>

/// Numbers and tables as plain text, for a terminal.
namespace hearsay {

/// "812 B", "16.3 kB", "1.08 MB": powers of 1000, three digits.
std::string human_bytes(double bytes);

/// "812", "16.3 k", "5.24 G": likewise.
std::string human_count(double count);

/// Columns of text, the first left-aligned, the others right-aligned; the first row is the header.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace hearsay
