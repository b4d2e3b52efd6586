#include "hearsay/report/sweep_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/text.h"
#include "hearsay/core/utf8.h"
#include "hearsay/report/export.h"
#include "hearsay/report/fit.h"
#include "hearsay/report/run_figures.h"
#include "hearsay/report/spread.h"
#include "hearsay/report/sweep_sheets.h"

namespace hearsay::report {

namespace {

using sweep::Difference;
using sweep::Figure;
using sweep::SweepRecord;
using sweep::SweepRow;
using OfRow = std::vector<const Record*>;  // its finished runs
using Rows = std::vector<std::vector<std::string>>;

/// Number format of a cell: so many digits after the decimal point, or scientific notation if that
/// would leave a mean fewer than two significant digits.
struct Style {
  int digits;
  bool powers;

  Style(double mean, int its_digits)
      : digits(its_digits),
        powers(digits > 0 && mean != 0 && std::abs(std::round(mean * std::pow(10, digits))) < 10) {}
  std::string text(double value) const {
    return powers ? fmt::format("{:.2e}", value) : fmt::format("{:.{}f}", value, digits);
  }
  /// "+0.34"; a value that rounds to zero is "+0.00", also a negative one.
  std::string with_sign(double value) const {
    const std::string its = text(value);
    const bool zero = its.find_first_of("123456789") == std::string::npos;
    return value < 0 && !zero ? its : "+" + text(std::abs(value));
  }
};

double mean_of(std::span<const double> values) { return spread_of(values).mean; }

/// The figure of all seeds at a round, if all have it.
std::optional<double> mean_at(const OfRow& runs, const Figure& figure, std::uint64_t round) {
  std::vector<double> values;
  for (const Record* run : runs) {
    if (const auto value = figure_at(*run, figure, round)) values.push_back(*value);
  }
  if (values.empty() || values.size() != runs.size()) return {};
  return mean_of(values);
}

std::vector<double> by_seed(const OfRow& runs, const Figure& figure) {
  std::vector<double> values;
  for (const Record* run : runs) {
    if (const auto value = figure_of(*run, figure)) values.push_back(*value);
  }
  return values;
}

/// The end of the last window in which `runs` are above `other` by that factor.
void find_transient(const OfRow& runs, const OfRow& other, const Figure& figure, SweepCell& cell) {
  if (runs.empty() || other.empty()) return;
  const std::uint64_t last = round_of(*runs.front(), {.name = "", .key = ""}).value_or(0);
  std::uint64_t end = 0;
  for (std::uint64_t round = figure.window; round <= last; round += figure.window) {
    const auto mine = mean_at(runs, figure, round), theirs = mean_at(other, figure, round);
    if (!mine || !theirs) return;
    if (*mine > figure.above * *theirs) end = round;
  }
  cell.ours = {static_cast<double>(end)};
  cell.beyond = end > 0 && end + figure.window > last;
}

/// The reference row of `row`: the row of that label at the same position on all axes.
std::optional<std::size_t> row_against(const std::vector<SweepRow>& rows, const SweepRow& row,
                                       const std::string& label) {
  sweep::Place place = row.place;
  for (auto& [name, its] : place) {
    if (name == "row") its = label;
  }
  const auto found = std::ranges::find(rows, place, &SweepRow::place);
  if (found == rows.end()) return {};
  return static_cast<std::size_t>(found - rows.begin());
}

SweepCell make_cell(const SweepRecord& record, std::size_t row, const Figure& figure,
                    const std::vector<OfRow>& runs) {
  SweepCell cell;
  const SweepRow& its = record.sweep.rows[row];
  const auto printed =
      std::ranges::find(its.printed, figure.name, &std::pair<std::string, double>::first);
  if (printed != its.printed.end() && !record.sweep.quick) cell.printed = printed->second;
  if (figure.against.empty()) {
    cell.ours = by_seed(runs[row], figure);
    return cell;
  }
  const auto other = row_against(record.sweep.rows, its, figure.against);
  if (!other) return cell;
  const std::vector<double> mine = by_seed(runs[row], figure);
  const std::vector<double> theirs = by_seed(runs[*other], figure);
  if (figure.above > 0) {
    if (*other != row) find_transient(runs[row], runs[*other], figure, cell);
  } else if (*other == row) {
    cell.ours = mine;
  } else if (!mine.empty() && !theirs.empty()) {
    cell.ours = {mean_of(mine) / mean_of(theirs)};
  }
  return cell;
}

std::string ours_text(const SweepCell& cell, const Figure& figure) {
  const auto mean = cell.mean();
  if (!mean) return "-";
  const Style style(*mean, figure.digits);
  std::string text = (cell.beyond ? "> " : "") + style.text(*mean);
  if (cell.spread() > 0) text += " +- " + style.text(cell.spread());
  return text;
}

void append_figure(const SweepRecord& record, const SweepTable& table, std::size_t f, Rows& rows) {
  const Figure& figure = record.sweep.figures[f];
  const auto any = [&](const auto& has) {
    return std::ranges::any_of(table.cells, [&](const auto& row) { return has(row[f]); });
  };
  const bool ours = any([](const SweepCell& cell) { return !cell.ours.empty(); });
  const bool printed = any([](const SweepCell& cell) { return cell.printed.has_value(); });
  if (!ours && !printed) return;
  rows.front().push_back(with_unit(figure));
  if (printed) {
    rows.front().emplace_back("paper");
    rows.front().emplace_back("difference");
  }
  for (std::size_t r = 0; r < table.cells.size(); ++r) {
    const SweepCell& cell = table.cells[r][f];
    rows[r + 1].push_back(cell_text(record, table, r, f));
    if (!printed) continue;
    const Style style(cell.printed.value_or(0), figure.digits);
    rows[r + 1].push_back(cell.printed ? fmt::format("{}", *cell.printed) : "-");
    rows[r + 1].push_back(
        cell.printed && cell.mean() ? style.with_sign(*cell.mean() - *cell.printed) : "-");
  }
}

const SweepCell* cell_of(const SweepRecord& record, const SweepTable& table,
                         const Difference::End& end) {
  const sweep::Sweep& sweep = record.sweep;
  const auto row = std::ranges::find(sweep.rows, end.place, &SweepRow::place);
  const auto figure = std::ranges::find(sweep.figures, end.figure, &Figure::name);
  if (row == sweep.rows.end() || figure == sweep.figures.end()) return nullptr;
  return &table.cells[static_cast<std::size_t>(row - sweep.rows.begin())]
                     [static_cast<std::size_t>(figure - sweep.figures.begin())];
}

/// The difference between ours and what the paper states in its text; "holds" if a stated bound
/// holds.
std::string off_text(double ours, const Difference& difference, const Style& style) {
  const double by = ours - *difference.printed;
  if (difference.relation == Difference::Relation::kAtMost && by <= 0) return "holds";
  return style.with_sign(by);
}

/// "not run (REASON): a; b; c" and "failed (REASON): d", one line per reason.
std::string without_text(const SweepRecord& record, const SweepTable& table) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> labels;
  const auto add = [&](const std::string& reason, const SweepRow& row) {
    if (labels[reason].empty()) reasons.push_back(reason);
    labels[reason].push_back(row.label);
  };
  for (std::size_t r = 0; r < record.sweep.rows.size(); ++r) {
    const SweepRow& row = record.sweep.rows[r];
    if (!row.missing.empty()) add(fmt::format("not run ({})", row.missing), row);
    if (!table.failed[r].empty()) add(fmt::format("failed ({})", table.failed[r]), row);
  }
  std::string text;
  for (const std::string& reason : reasons) {
    constexpr std::size_t kNamed = 4;
    std::vector<std::string>& all = labels[reason];
    const std::size_t more = all.size() > kNamed ? all.size() - kNamed : 0;
    all.resize(all.size() - more);
    text += fmt::format("{}: {}{}\n", reason, fmt::join(all, "; "),
                        more > 0 ? fmt::format("; and {} more", more) : "");
  }
  return text;
}

/// The first line of why a run failed, cut: it is shown in lists.
std::string short_reason(std::string_view why) {
  constexpr std::size_t kLongest = 300;
  why = why.substr(0, why.find('\n'));
  if (why.size() <= kLongest) return std::string(why);
  return escape_non_utf8(why.substr(0, kLongest)) + " ...";
}

/// Of the first run of a row that failed, and has not finished since.
std::string failure_of(const SweepRecord& record, std::size_t row, const OfRow& finished) {
  namespace fs = std::filesystem;
  for (const fs::path& run : record.runs[row]) {
    const auto found = record.failed.find(run.filename().string());
    if (found == record.failed.end()) continue;
    const bool since = std::ranges::any_of(finished, [&](const Record* its) {
      return fs::path(its->name()).lexically_normal() == run.lexically_normal();
    });
    if (!since) return short_reason(found->second);
  }
  return "";
}

}  // namespace

std::optional<double> SweepCell::mean() const {
  if (ours.empty()) return {};
  return mean_of(ours);
}

double SweepCell::spread() const { return spread_of(ours).deviation; }

SweepTable tabulate(const SweepRecord& record,
                    const std::vector<std::vector<const Record*>>& runs) {
  SweepTable table;
  std::vector<OfRow> finished;
  for (const auto& of_row : runs) {
    OfRow& its = finished.emplace_back();
    std::ranges::copy_if(of_row, std::back_inserter(its), &Record::finished);
    table.finished.push_back(its.size());
    table.failed.push_back(failure_of(record, table.failed.size(), its));
  }
  for (std::size_t r = 0; r < record.sweep.rows.size(); ++r) {
    auto& cells = table.cells.emplace_back();
    for (const Figure& figure : record.sweep.figures) {
      cells.push_back(make_cell(record, r, figure, finished));
    }
  }
  return table;
}

std::string with_unit(const Figure& figure) {
  return figure.unit.empty() ? figure.name : fmt::format("{} {}", figure.name, figure.unit);
}

std::string cell_text(const SweepRecord& record, const SweepTable& table, std::size_t row,
                      std::size_t figure) {
  const SweepCell& cell = table.cells[row][figure];
  if (table.finished[row] == 0 && !table.failed[row].empty()) return "failed";
  return ours_text(cell, record.sweep.figures[figure]);
}

std::string seeds_text(const SweepRecord& record, const SweepTable& table, std::size_t row) {
  const std::size_t asked = record.runs[row].size(), found = table.finished[row];
  if (asked == 0) return "-";
  return found == asked ? fmt::format("{}", found) : fmt::format("{} of {}", found, asked);
}

Rows sweep_rows(const SweepRecord& record, const SweepTable& table) {
  Rows rows{{""}};
  for (const SweepRow& row : record.sweep.rows) rows.push_back({row.label});
  for (std::size_t f = 0; f < record.sweep.figures.size(); ++f) {
    append_figure(record, table, f, rows);
  }
  rows.front().emplace_back("seeds");
  for (std::size_t r = 0; r < record.sweep.rows.size(); ++r) {
    rows[r + 1].push_back(seeds_text(record, table, r));
  }
  return rows;
}

Rows difference_rows(const SweepRecord& record, const SweepTable& table) {
  constexpr const char* kWords[] = {"", "about ", "at most "};
  const bool quick = record.sweep.quick;
  Rows rows;
  for (const Difference& difference : record.sweep.differences) {
    if (rows.empty()) {
      rows.push_back({"", "ours"});
      if (!quick) rows.front().insert(rows.front().end(), {"paper", "difference"});
    }
    const SweepCell* from = cell_of(record, table, difference.from);
    const SweepCell* minus = cell_of(record, table, difference.minus);
    if (from == nullptr || minus == nullptr) continue;
    const auto figure =
        std::ranges::find(record.sweep.figures, difference.from.figure, &Figure::name);
    const Style style(from->mean().value_or(0), figure->digits);
    std::vector<std::string> row{difference.label, "-"};
    row.resize(rows.front().size(), "-");
    if (difference.printed && !quick) {
      row[2] =
          kWords[static_cast<std::size_t>(difference.relation)] + style.text(*difference.printed);
    }
    if (from->mean() && minus->mean()) {
      const double ours = *from->mean() - *minus->mean();
      row[1] = style.with_sign(ours);
      if (difference.printed && !quick) row[3] = off_text(ours, difference, style);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string sweep_text(const SweepRecord& record, const SweepTable& table, bool markdown,
                       bool wide) {
  const sweep::Sweep& sweep = record.sweep;
  const auto draw = [&](const Rows& rows) {
    return markdown ? markdown_table(rows) : wide ? format_table(rows) : folded_table(rows);
  };
  const char* heading = markdown ? "### " : "";
  std::string text = fmt::format("{}{}\n", heading, sweep.title);
  if (!sweep.source.empty()) text += (markdown ? "\n" : "") + sweep.source + "\n";
  if (!sweep.banner.empty()) text += "\nQuick profile: " + sweep.banner + "\n";
  for (const SweepSheet& sheet : sweep_sheets(record, table)) {
    const char* mark = markdown ? "**" : "";
    if (!sheet.title.empty()) text += fmt::format("\n{}{}{}\n", mark, sheet.title, mark);
    text += "\n" + draw(sheet.rows);
  }
  if (const Rows rows = difference_rows(record, table); !rows.empty()) text += "\n" + draw(rows);
  if (const std::string without = without_text(record, table); !without.empty()) {
    text += "\n" + without;
  }
  if (!sweep.note.empty()) text += "\n" + sweep.note + "\n";
  return text;
}

}  // namespace hearsay::report
