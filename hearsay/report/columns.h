#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay::report {

/// metrics.jsonl as columns: one number per line for each figure (top-level key).
///
/// Two sentinels mark missing values: kAbsent where a line has no such figure, kNotFinite where it
/// has null, which is how JSON encodes an infinity or NaN.
///
/// Columns of doubles keep long runs small: 200,000 lines of 8 peers are 70 MB here, and more than
/// a gigabyte as JSON trees. The file is read in pieces, one line is parsed at a time, and memory
/// is bounded by the limits below for any file.
class Columns {
 public:
  static constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kNotFinite = std::numeric_limits<double>::infinity();

  static constexpr std::size_t kMostFigures = 64;   ///< later ones are not kept
  static constexpr std::size_t kMostEntries = 64;   ///< of a list; longer ones are not kept
  static constexpr std::size_t kMostBadLines = 20;  ///< a file with more is refused
  static constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;
  static constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{4} << 30;

  Columns() = default;

  /// Lines that are not a JSON object, have no round, or go back to an earlier one are skipped and
  /// named in problems(). A last line without a newline is still being written and is ignored,
  /// unless it is complete. Throws CorruptData for a file that is too large or has too many such
  /// lines, RunFailed if it cannot be read.
  explicit Columns(const std::filesystem::path& file);

  /// Columns that are no file's: figures, and lists of figures, each with a number per line.
  Columns(std::size_t lines, std::map<std::string, std::vector<double>> figures,
          std::map<std::string, std::vector<std::vector<double>>> lists);

  std::size_t lines() const { return lines_; }

  /// Figure `key`, such as "divergence", of all lines; empty if no line has it.
  std::span<const double> figure(std::string_view key) const { return entry(key, 0, false); }

  /// Entry i of a figure that is a list, such as "push_sum".
  std::span<const double> figure(std::string_view key, std::size_t i) const {
    return entry(key, i, true);
  }
  std::size_t entries(std::string_view key) const;  ///< of the longest list; 0: there is none

  /// The keys that figure() knows, except lists.
  std::vector<std::string> keys() const;

  /// "[report] runs/a/metrics.jsonl, line 17: it is no JSON object"
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Column {
    bool is_list = false;
    std::vector<std::vector<double>> entries;
  };
  class Line;
  class Reader;

  std::span<const double> entry(std::string_view key, std::size_t i, bool list) const;

  std::size_t lines_ = 0;
  std::map<std::string, Column, std::less<>> columns_;
  std::vector<std::string> problems_;
};

}  // namespace hearsay::report
