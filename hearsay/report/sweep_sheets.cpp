#include "hearsay/report/sweep_sheets.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hearsay/core/text.h"

namespace hearsay::report {

namespace {

using sweep::SweepRecord;
using sweep::SweepRow;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kWidest = 100;

/// The rows of a sweep as a grid whose columns are the values of one axis.
class Grid {
 public:
  Grid(const SweepRecord& record, const std::string& axis) {
    std::map<std::string, std::size_t> row_of, column_of;
    for (std::size_t r = 0; r < record.sweep.rows.size(); ++r) {
      sweep::Place place = record.sweep.rows[r].place;
      const auto its = std::ranges::find(place, axis, &sweep::Place::value_type::first);
      if (its == place.end()) return;  // of a record that was changed
      const std::string column = its->second;
      place.erase(its);
      const std::string row = sweep::label_of(place);
      if (column_of.emplace(column, columns_.size()).second) columns_.push_back(column);
      if (row_of.emplace(row, rows_.size()).second) rows_.push_back(row);
      at_[{row_of[row], column_of[column]}] = r;
    }
    complete_ = at_.size() == record.sweep.rows.size();
  }

  /// False also if two rows are at one place.
  bool crosses() const { return complete_ && rows_.size() > 1 && columns_.size() > 1; }

  Rows fill(const std::function<std::string(std::size_t row)>& text) const {
    Rows cells{{""}};
    cells.front().insert(cells.front().end(), columns_.begin(), columns_.end());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      cells.push_back({rows_[r]});
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const auto found = at_.find({r, c});
        cells.back().push_back(found == at_.end() ? "" : text(found->second));
      }
    }
    return cells;
  }

 private:
  std::vector<std::string> rows_, columns_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> at_;
  bool complete_ = false;
};

/// "; 3 seeds" if all rows that are run have as many, and have them all.
std::string common_seeds(const SweepRecord& record, const SweepTable& table) {
  std::set<std::size_t> counts;
  for (std::size_t r = 0; r < record.runs.size(); ++r) {
    if (record.runs[r].empty()) continue;
    counts.insert(table.finished[r]);
    if (table.finished[r] != record.runs[r].size()) return "";
  }
  if (counts.size() != 1) return "";
  return fmt::format("; {} seed{}", *counts.begin(), *counts.begin() == 1 ? "" : "s");
}

std::vector<SweepSheet> sheets_by(const std::string& axis, const Grid& grid,
                                  const SweepRecord& record, const SweepTable& table) {
  std::vector<SweepSheet> sheets;
  const std::string seeds = common_seeds(record, table);
  for (std::size_t f = 0; f < record.sweep.figures.size(); ++f) {
    const auto any = [&](const auto& has) {
      return std::ranges::any_of(table.cells, [&](const auto& row) { return has(row[f]); });
    };
    const bool printed = any([](const SweepCell& cell) { return cell.printed.has_value(); });
    if (!printed && !any([](const SweepCell& cell) { return !cell.ours.empty(); })) continue;
    const auto text = [&](std::size_t row) {
      const std::optional<double>& paper = table.cells[row][f].printed;
      return cell_text(record, table, row, f) + (paper ? fmt::format(" ({})", *paper) : "");
    };
    sheets.push_back({fmt::format("{}, by {}{}{}", with_unit(record.sweep.figures[f]), axis, seeds,
                                  printed ? "; in parentheses the paper's" : ""),
                      grid.fill(text)});
  }
  if (seeds.empty()) {
    sheets.push_back({fmt::format("seeds, by {}", axis),
                      grid.fill([&](std::size_t row) { return seeds_text(record, table, row); })});
  }
  return sheets;
}

std::size_t width_of(const SweepSheet& sheet) {
  const std::string text = format_table(sheet.rows);
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    widest = std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

}  // namespace

std::vector<SweepSheet> sweep_sheets(const SweepRecord& record, const SweepTable& table) {
  const std::vector<SweepRow>& rows = record.sweep.rows;
  const sweep::Place names = rows.empty() ? sweep::Place{} : rows.front().place;
  for (std::size_t k = names.size(); k-- > 0;) {
    if (names[k].first == "row") continue;
    const Grid grid(record, names[k].first);
    if (!grid.crosses()) continue;
    std::vector<SweepSheet> sheets = sheets_by(names[k].first, grid, record, table);
    if (std::ranges::all_of(sheets, [](const auto& s) { return width_of(s) <= kWidest; })) {
      return sheets;
    }
  }
  return {{"", sweep_rows(record, table)}};
}

}  // namespace hearsay::report
